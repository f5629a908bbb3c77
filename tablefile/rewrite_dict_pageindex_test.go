package tablefile

import (
	"strings"
	"testing"

	"github.com/arrowmask/arrowmask/internal/thrift"
)

// A page index tells of pages of NULLs, of the order of pages, and leaves out values that are too long for it.
func TestDictionaryPageIndex(t *testing.T) {
	dict := &dictionaryValues{}
	for _, v := range []string{"b", "", "d", strings.Repeat("x", maxStatistic+1)} {
		dict.plain = append(dict.plain, byte(len(v)), byte(len(v)>>8), 0, 0)
		dict.starts = append(dict.starts, len(dict.plain))
		dict.plain = append(dict.plain, v...)
	}
	null := pageUse{rows: 3, nulls: 3}
	page := func(values ...uint32) pageUse { return pageUse{rows: 10, nulls: 1, values: values} }
	for name, c := range map[string]struct {
		pages []pageUse
		order int64 // 0 none, 1 rising, 2 falling; -1: no column index
	}{
		"rising, NULLs between": {[]pageUse{page(1), null, page(1, 0), page(0, 2)}, 1},
		"falling":               {[]pageUse{null, page(2, 0), page(0), page(1)}, 2},
		"neither":               {[]pageUse{page(0), page(2), page(1)}, 0},
		"low rises, high falls": {[]pageUse{page(1, 2), page(0)}, 0},
		"NULLs alone":           {[]pageUse{null, null}, 1},
		"a long value":          {[]pageUse{page(0), page(3)}, -1},
	} {
		x := newPageIndex(dict)
		for i := range c.pages {
			x.add(int64(100*i), 100, &c.pages[i])
		}
		index := x.columns()
		if index == nil {
			if c.order >= 0 {
				t.Errorf("%s: no column index", name)
			}
			continue
		}
		if order, _ := index.Int(columnIndexOrder); order != c.order {
			t.Errorf("%s: order %d, want %d", name, order, c.order)
		}
		back, _, err := thrift.ReadStruct(index.Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		low, err := back.List(columnIndexMin)
		if err != nil {
			t.Fatal(err)
		}
		nulls, err := back.List(columnIndexNullPages)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range c.pages {
			if isNull := nulls.Items[i][0] == byte(thrift.True); isNull != (p.values == nil) || isNull && len(thrift.BytesOf(low.Items[i])) > 0 {
				t.Errorf("%s: page %d of NULLs: %v", name, i, isNull)
			}
		}
	}
}
