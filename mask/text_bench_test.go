package mask

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// benchText is a column of rows of 10 to 40 bytes.
func benchText(rows int, kind string) *Vector {
	words := map[string]string{
		"ascii":  "Anna Schmidt 4012-8888-8888-1881 mail@example.org Main Street 12 1984-02-29 ",
		"latin1": "Müller Größe Straße 12 Café façade Ærø Žižka naïve 4012 coöperate Ängström señor ",
		"cjk":    "日本語テスト漢字かな交じり文東京都千代田区一番町中文測試上海市浦東新區한국어서울특별시",
	}[kind]
	rng := rand.New(rand.NewPCG(1, 1))
	text := []byte(strings.Repeat(words, 1+80/len(words)))
	v := &Vector{Type: Type{Kind: Text}, Len: rows, Layout: LayoutOffsets32, Offsets32: make([]int32, 1, rows+1)}
	for range rows {
		size := 10 + rng.IntN(31)
		lo := rng.IntN(len(text) - 40)
		for !utf8.RuneStart(text[lo]) {
			lo++
		}
		hi := min(lo+size, len(text))
		for hi < len(text) && !utf8.RuneStart(text[hi]) {
			hi--
		}
		v.Data = append(v.Data, text[lo:hi]...)
		v.Offsets32 = append(v.Offsets32, int32(len(v.Data)))
	}
	return v
}

// keptAlloc hands the same memory out again, as a pool of buffers would, so
// that what is timed is the work and not the first touch of fresh pages.
type keptAlloc struct{ free [][]byte }

func (a *keptAlloc) Allocate(n int) []byte {
	for i, b := range a.free {
		if cap(b) >= n {
			a.free = slices.Delete(a.free, i, i+1)
			return b[:n]
		}
	}
	return make([]byte, n)
}

func (a *keptAlloc) Free(b []byte) { a.free = append(a.free, b) }

// rowLoop is what one would write without this package: strings.Map over one
// row after the other, the answers appended.
type rowLoop struct {
	text    string
	data    []byte
	offsets []int32
}

func (l *rowLoop) run(fn string, in *Vector) {
	l.data, l.offsets = l.data[:0], append(l.offsets[:0], 0)
	for i := range in.Len {
		row := l.text[in.Offsets32[i]:in.Offsets32[i+1]]
		shown := ""
		if fn == "mask_show_last_n" {
			at := len(row)
			for range 4 {
				_, w := utf8.DecodeLastRuneInString(row[:at])
				at -= w
			}
			row, shown = row[:at], row[at:]
		}
		l.data = append(l.data, strings.Map(mapRune, row)...)
		l.data = append(l.data, shown...)
		l.offsets = append(l.offsets, int32(len(l.data)))
	}
}

func mapRune(r rune) rune {
	switch {
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return 'X'
	case unicode.IsLetter(r), unicode.IsMark(r):
		return 'x'
	case unicode.IsNumber(r):
		return 'n'
	}
	return r
}

// BenchmarkMask compares masks of a column with copying its bytes and with a
// loop over the rows. An iteration of impl=ratio is a round that takes them in
// turn, so that all meet the same machine, the short ones seven times of which
// the fastest counts. It gives medians: of-copy is the speed of the mask as a
// part of that of the copy, times-rowloop how many times faster than the loop.
func BenchmarkMask(b *testing.B) {
	const rows = 1 << 20
	for _, kind := range []string{"ascii", "latin1", "cjk"} {
		in := benchText(rows, kind)
		loop := &rowLoop{text: string(in.Data)}
		dst := make([]byte, len(in.Data))
		for _, fn := range []string{"mask", "mask_show_last_n", "mask_show_first_n", "mask_first_n", "mask_last_n"} {
			p, pool := compile(b, fn+"({col})", in.Type), &keptAlloc{}
			column := func() *Vector {
				out, err := p.Eval(context.Background(), in, EvalOptions{Alloc: pool})
				if err != nil {
					b.Fatal(err)
				}
				pool.Free(out.Data)
				return out
			}
			impls := []struct {
				name string
				run  func()
			}{
				{"column", func() { column() }},
				{"copy", func() { copy(dst, in.Data) }},
				{"rowloop", func() { loop.run(fn, in) }},
			}
			looped := fn == "mask" || fn == "mask_show_last_n"
			if !looped {
				impls = impls[:2]
			} else if loop.run(fn, in); string(loop.data) != string(column().Data) {
				b.Fatalf("%s of %s: the loop has another answer", fn, kind)
			}
			name := fmt.Sprintf("fn=%s/text=%s/impl=", fn, kind)
			for _, impl := range impls {
				b.Run(name+impl.name, func(b *testing.B) {
					b.SetBytes(int64(len(in.Data)))
					b.ReportAllocs()
					for b.Loop() {
						impl.run()
					}
					b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
				})
			}
			b.Run(name+"ratio", func(b *testing.B) {
				var ofCopy, timesLoop []float64
				for b.Loop() {
					var took [3]float64
					for turn := range 7 {
						for i, impl := range impls {
							if turn > 0 && impl.name == "rowloop" {
								continue
							}
							start := time.Now()
							impl.run()
							if t := time.Since(start).Seconds(); turn == 0 || t < took[i] {
								took[i] = t
							}
						}
					}
					ofCopy, timesLoop = append(ofCopy, took[1]/took[0]), append(timesLoop, took[2]/took[0])
				}
				b.ReportMetric(median(ofCopy), "of-copy")
				if looped {
					b.ReportMetric(median(timesLoop), "times-rowloop")
				}
			})
		}
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
