package kat

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	katdata "github.com/arrowmask/arrowmask/testdata/kat"
)

// load reads the vector files that the options name, in order.
func load(o Options) ([]Vector, error) {
	if o.FS != nil || len(o.Files) == 0 {
		from, files := o.FS, o.Files
		if from == nil {
			from = katdata.FS
		}
		if len(files) == 0 {
			files = []string{"."}
		}
		var all []Vector
		for _, f := range files {
			v, err := loadTree(from, f, f)
			if err != nil {
				return nil, err
			}
			all = append(all, v...)
		}
		return all, nil
	}
	var all []Vector
	for _, f := range o.Files {
		dir, root := filepath.Dir(f), filepath.Base(f)
		if info, err := os.Stat(f); err == nil && info.IsDir() {
			dir, root = f, "."
		}
		v, err := loadTree(os.DirFS(dir), root, filepath.ToSlash(f))
		if err != nil {
			return nil, err
		}
		all = append(all, v...)
	}
	return all, nil
}

// loadTree reads one file, or every *.tsv in a folder and below. shown is what
// reports call root.
func loadTree(from fs.FS, root, shown string) ([]Vector, error) {
	info, err := fs.Stat(from, root)
	if err != nil {
		return nil, fmt.Errorf("vector file %s: %w", shown, err)
	}
	if !info.IsDir() {
		return loadFile(from, root, shown)
	}
	var all []Vector
	files := 0
	err = fs.WalkDir(from, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("vector file %s: %w", p, err)
		}
		if d.IsDir() || path.Ext(p) != ".tsv" {
			return nil
		}
		files++
		below, err := filepath.Rel(filepath.FromSlash(root), filepath.FromSlash(p))
		if err != nil {
			return fmt.Errorf("vector file %s: %w", p, err)
		}
		v, err := loadFile(from, p, path.Join(shown, filepath.ToSlash(below)))
		all = append(all, v...)
		return err
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("vector folder %s: %w: no file ends in .tsv", shown, fs.ErrNotExist)
	}
	return all, err
}

func loadFile(from fs.FS, p, shown string) ([]Vector, error) {
	data, err := fs.ReadFile(from, p)
	if err != nil {
		return nil, fmt.Errorf("vector file %s: %w", shown, err)
	}
	return Parse(shown, data)
}
