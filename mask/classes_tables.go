package mask

import (
	"sync"
	"unicode"
)

// The class tables of the dialects, made when one is first used. Of two lists
// that hold a code point, the later one counts.

var classTables = [...]func() *classTable{
	classesSafe: safeClasses, classesJava: javaClasses, classesASCII: asciiClasses, classesGlibc: glibcClasses,
}

// safeClasses masks letters, marks and numbers of every kind. Other_Uppercase
// and Other_Lowercase add symbols that are letters in disguise, such as Ⓐ.
var safeClasses = sync.OnceValue(func() *classTable {
	return newClassTable([numClasses][]*unicode.RangeTable{
		classUpper: {unicode.Lu, unicode.Lt, unicode.Other_Uppercase},
		classLower: {unicode.Ll, unicode.Lm, unicode.Lo, unicode.Mn, unicode.Mc, unicode.Me, unicode.Other_Lowercase},
		classDigit: {unicode.Nd, unicode.Nl, unicode.No},
	})
})

// javaClasses are the general categories that Hive and Spark ask for
// (Character.getType), in the Unicode version of Go instead of the JVM's.
var javaClasses = sync.OnceValue(func() *classTable {
	return newClassTable([numClasses][]*unicode.RangeTable{
		classUpper: {unicode.Lu}, classLower: {unicode.Ll}, classDigit: {unicode.Nd},
	})
})

// asciiClasses know nothing outside ASCII.
var asciiClasses = sync.OnceValue(func() *classTable {
	return newClassTable([numClasses][]*unicode.RangeTable{
		classUpper: {letters('A', 'Z')}, classLower: {letters('a', 'z')}, classDigit: {letters('0', '9')},
	})
})

func letters(lo, hi uint16) *unicode.RangeTable {
	return &unicode.RangeTable{R16: []unicode.Range16{{Lo: lo, Hi: hi, Stride: 1}}}
}

// glibcClasses are iswupper, iswlower and iswdigit of glibc's UTF-8 locales,
// asked in this order: upper is what has a lower case or the property
// Uppercase, lower what has an upper case or the property Lowercase, digit
// only 0 to 9. glibc's own Unicode version may differ from Go's.
var glibcClasses = sync.OnceValue(func() *classTable {
	t := newClassTable([numClasses][]*unicode.RangeTable{
		classLower: {unicode.Ll, unicode.Other_Lowercase, cased(unicode.ToUpper)},
		classDigit: {letters('0', '9')},
	})
	upper := newClassTable([numClasses][]*unicode.RangeTable{
		classUpper: {unicode.Lu, unicode.Other_Uppercase, cased(unicode.ToLower)},
	})
	return t.or(upper)
})

// cased is the code points that a mapping changes.
func cased(mapping func(rune) rune) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if mapping(r) != r {
			t.R32 = append(t.R32, unicode.Range32{Lo: uint32(r), Hi: uint32(r), Stride: 1})
		}
	}
	return t
}
