package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/arrowmask/arrowmask/mask"
)

// maxKey bounds what is read as a key, so that a device or a wrong file does
// not fill the memory.
const maxKey = 1 << 16

// keyFlags are the places that keys come from. A key is never an argument:
// arguments are visible to every user of the machine.
type keyFlags struct{ files, envs, fds []string }

func (k *keyFlags) register(f *pflag.FlagSet) {
	f.StringArrayVar(&k.files, "key-file", nil, "a key for hmac: `NAME=PATH` takes the bytes of a file without its last line end")
	f.StringArrayVar(&k.envs, "key-env", nil, "a key for hmac: `NAME=VAR` takes the value of an environment variable")
	f.StringArrayVar(&k.fds, "key-fd", nil, "a key for hmac: `NAME=N` reads open file descriptor N like a file")
}

// keyring reads every key. Errors name the handle and the place, never the key.
func (k *keyFlags) keyring() (*mask.Keyring, error) {
	ring := mask.NewKeyring()
	for _, source := range []struct {
		flag   string
		values []string
		read   func(string) ([]byte, error)
	}{
		{"--key-file", k.files, keyFromFile},
		{"--key-env", k.envs, keyFromEnv},
		{"--key-fd", k.fds, keyFromFD},
	} {
		for _, v := range source.values {
			name, place, found := strings.Cut(v, "=")
			if !found || name == "" || place == "" {
				// The text is not shown: someone may have put the key there.
				return nil, usagef("%s wants NAME=PLACE", source.flag)
			}
			key, err := source.read(place)
			if err != nil {
				return nil, usagef("key %q: %w", name, err)
			}
			if err := ring.Add(name, key); err != nil {
				return nil, usagef("key %q: %w", name, err)
			}
		}
	}
	return ring, nil
}

func keyFromFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readKey(f)
}

func keyFromFD(number string) ([]byte, error) {
	fd, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("not the number of a file descriptor: %q", number)
	}
	f := os.NewFile(uintptr(fd), "file descriptor "+number)
	defer f.Close()
	return readKey(f)
}

func keyFromEnv(name string) ([]byte, error) {
	value, found := os.LookupEnv(name)
	if !found {
		return nil, fmt.Errorf("environment variable %s is not set", name)
	}
	return []byte(value), nil
}

// readKey is everything up to the end, less one line end, which editors and
// echo add.
func readKey(r io.Reader) ([]byte, error) {
	key, err := io.ReadAll(io.LimitReader(r, maxKey+1))
	if err != nil {
		return nil, err
	}
	if len(key) > maxKey {
		return nil, fmt.Errorf("longer than %d bytes", maxKey)
	}
	key = bytes.TrimSuffix(key, []byte("\n"))
	return bytes.TrimSuffix(key, []byte("\r")), nil
}
