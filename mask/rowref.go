package mask

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"time"

	"github.com/arrowmask/arrowmask/kernels"
)

// EvalRow is the row-at-a-time reference: the same answer as Eval for one cell
// of {col}, written for reading and from the standard library alone, sharing no
// evaluation code with Eval. The value must be of the compiled kind; it is
// ignored by an expression without {col}. The result is a copy.
func (p *Program) EvalRow(v Value) (Value, error) {
	return p.EvalCells([]Value{v})
}

// EvalCells is EvalRow for a program of CompileColumns: a cell of each column.
func (p *Program) EvalCells(row []Value) (Value, error) {
	for i, used := range p.used {
		switch {
		case used && i >= len(row):
			return Value{}, fmt.Errorf("{%s}: %w: no cell given", p.in[i].Name, ErrVector)
		case used && row[i].Kind != p.in[i].Type.Kind:
			return Value{}, fmt.Errorf("{%s}: %w: compiled for %s, got %s", p.in[i].Name, ErrType, p.in[i].Type, row[i].Kind)
		}
	}
	out, err := refNode(p.root, row)
	if err != nil {
		return Value{}, err
	}
	out.Bytes = append([]byte(nil), out.Bytes...)
	return out, nil
}

func refNode(n *node, row []Value) (Value, error) {
	switch {
	case n.lit != nil:
		return *n.lit, nil
	case n.arg == nil:
		return row[n.col], nil
	}
	v, err := refNode(n.arg, row)
	if err != nil {
		return Value{}, err
	}
	if n.also != nil {
		cells := []Value{v}
		for _, a := range n.also {
			if v, err = refNode(a, row); err != nil {
				return Value{}, err
			}
			cells = append(cells, v)
		}
		return n.refRows(cells)
	}
	null := Value{Kind: n.out.Kind, Null: true}
	if n.out.Kind == Null || n.arg.out.Kind == Null {
		return null, nil
	}
	if v.Null {
		if !n.set.nullHash {
			return null, nil
		}
		v.Bytes = nil
	}
	if n.ref != nil {
		return n.ref(v)
	}
	if n.fn == nil {
		return v, nil
	}
	hexText := func(b []byte) (Value, error) {
		s := hex.EncodeToString(b)
		if n.set.upper {
			s = strings.ToUpper(s)
		}
		return Value{Kind: Text, Bytes: []byte(s)}, nil
	}
	switch n.fn.name {
	case "mask_null":
		return null, nil
	case "mask_email", "mask_card", "mask_hmac":
		if v.Kind != Text {
			return null, nil
		}
	}
	switch n.fn.name {
	case "mask", "mask_first_n", "mask_last_n", "mask_show_first_n", "mask_show_last_n":
		return refMask(v, n)
	case "date_trunc":
		return refDate(v, n)
	case "mask_email":
		return Value{Kind: Text, Bytes: []byte(refEmail(string(v.Bytes), n.set.rep[0]))}, nil
	case "mask_card":
		return Value{Kind: Text, Bytes: []byte(refCard(string(v.Bytes), n.set.rep[0]))}, nil
	case "to_utf8":
		return Value{Kind: Binary, Bytes: v.Bytes}, nil
	case "mask_hash", "mask_hmac":
		if n.arg.out.Kind == n.out.Kind && n.out.Kind != Text || v.Kind != Text && v.Kind != Binary {
			return null, nil
		}
		return hexText(refDigest(v.Bytes, &n.set))
	case "hex", "to_hex":
		return hexText(v.Bytes)
	}
	switch {
	case n.set.noAlg:
		return null, nil
	case n.out.Kind == Binary:
		return Value{Kind: Binary, Bytes: refDigest(v.Bytes, &n.set)}, nil
	}
	return hexText(refDigest(v.Bytes, &n.set))
}

func refDigest(b []byte, s *settings) []byte {
	if s.blake != nil {
		return refBlake(b, s.blake.salt(), s.blake.legacy)
	}
	make := map[kernels.Alg]func() hash.Hash{
		kernels.MD5: md5.New, kernels.SHA1: sha1.New, kernels.SHA224: sha256.New224, kernels.SHA256: sha256.New,
		kernels.SHA384: sha512.New384, kernels.SHA512: sha512.New, kernels.SHA512_256: sha512.New512_256,
	}[s.alg]
	h := make()
	if s.key != nil {
		h = hmac.New(make, s.key())
	}
	h.Write(b)
	return h.Sum(nil)
}

func refMask(v Value, n *node) (Value, error) {
	function, s := n.fn.name, &n.set
	switch {
	case n.rules.mask.of(Type{Kind: v.Kind}) != answer:
		return Value{Kind: v.Kind, Null: true}, nil
	case v.Kind == Text:
		return refText(string(v.Bytes), n)
	case v.Kind >= Int8 && v.Kind <= Int64:
		return Value{Kind: v.Kind, Int: refSigned(v.Int, v.Kind, function, s)}, nil
	case v.Kind >= Uint8 && v.Kind <= Uint64:
		return Value{Kind: v.Kind, Int: int64(refUnsigned(uint64(v.Int), v.Kind, function, s))}, nil
	}
	return refDate(v, n)
}

// refWindow is the half-open range of masked positions, counted from the left.
func refWindow(function string, n, length int) (from, to int) {
	n = min(n, length)
	switch function {
	case "mask_first_n":
		return 0, n
	case "mask_last_n":
		return length - n, length
	case "mask_show_first_n":
		return n, length
	case "mask_show_last_n":
		return 0, length - n
	}
	return 0, length
}

// refSigned follows Hive's GenericUDFMask family digit by digit; wrap stands
// for the stores into a narrow Java variable.
func refSigned(value int64, k Kind, function string, s *settings) int64 {
	wrap := map[Kind]func(int64) int64{
		Int8:  func(v int64) int64 { return int64(int8(v)) },
		Int16: func(v int64) int64 { return int64(int16(v)) },
		Int32: func(v int64) int64 { return int64(int32(v)) },
		Int64: func(v int64) int64 { return v },
	}[k]
	rest := value
	if value < 0 {
		rest = wrap(-value) // the least value stays negative
	}
	var digits []int64 // from the right; those of the least value are negative
	for ; rest != 0; rest /= 10 {
		digits = append(digits, rest%10)
	}
	if digits == nil {
		digits = []int64{0}
	}
	from, to := refWindow(function, s.n, len(digits))
	var result, place int64 = 0, 1
	for i, d := range digits {
		if left := len(digits) - 1 - i; left >= from && left < to {
			d = int64(s.number)
		}
		result = wrap(result + d*place)
		place *= 10
	}
	if value < 0 {
		result = wrap(-result)
	}
	return result
}

func refUnsigned(value uint64, k Kind, function string, s *settings) uint64 {
	bits := map[Kind]uint{Uint8: 8, Uint16: 16, Uint32: 32, Uint64: 64}[k]
	digits := fmt.Sprint(value)
	from, to := refWindow(function, s.n, len(digits))
	var result uint64
	for i, c := range digits {
		d := uint64(c - '0')
		if i >= from && i < to {
			d = uint64(s.number)
		}
		result = result*10 + d
	}
	return result << (64 - bits) >> (64 - bits)
}

func refDate(v Value, n *node) (Value, error) {
	s := &n.set
	if s.date == (dateRule{keep, keep, keep}) {
		return v, nil
	}
	null, failed := Value{Kind: v.Kind, Null: true}, error(nil)
	if n.rules.badDate == refuse && n.fn.name != "date_trunc" {
		failed = fmt.Errorf("%s: %w: no such day", n.name, ErrValue)
	}
	seconds := v.Int * 24 * 60 * 60
	if v.Kind == Date64 {
		seconds = time.UnixMilli(v.Int).Unix()
	}
	year, month, day := time.Unix(seconds, 0).UTC().Date()
	if s.date.year != keep {
		year = int(s.date.year)
	}
	if s.date.month != keep {
		month = time.Month(s.date.month)
	}
	if s.date.day != keep {
		day = int(s.date.day)
	}
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if t.Day() != day {
		return null, failed // time.Date rolled over: there is no such day
	}
	out := Value{Kind: v.Kind, Int: t.Unix() / (24 * 60 * 60)}
	if v.Kind == Date64 {
		out.Int = t.UnixMilli()
		if !time.UnixMilli(out.Int).Equal(t) {
			return null, failed // milliseconds wrapped
		}
	} else if out.Int != int64(int32(out.Int)) {
		return null, failed
	}
	return out, nil
}
