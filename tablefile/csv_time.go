package tablefile

import (
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

const (
	dayMillis  = 24 * 60 * 60 * 1000
	daySeconds = 24 * 60 * 60
)

// unitDigits is how many fraction digits of a second a unit has, and how many of it make a second.
func unitDigits(u arrow.TimeUnit) (digits int, perSecond int64) {
	switch u {
	case arrow.Millisecond:
		return 3, 1e3
	case arrow.Microsecond:
		return 6, 1e6
	case arrow.Nanosecond:
		return 9, 1e9
	}
	return 0, 1
}

// floorDiv divides so that the remainder is never negative.
func floorDiv(a, b int64) (quotient, remainder int64) {
	quotient, remainder = a/b, a%b
	if remainder < 0 {
		quotient, remainder = quotient-1, remainder+b
	}
	return quotient, remainder
}

// appendDate writes days since 1970-01-01 as YYYY-MM-DD. Years beyond 0000 to 9999 get a sign and as many digits as they need, as ISO 8601 has it.
func appendDate(dst []byte, days int64) []byte {
	t := time.Unix(days*daySeconds, 0).UTC()
	year := t.Year()
	if year < 0 {
		dst, year = append(dst, '-'), -year
	} else if year > 9999 {
		dst = append(dst, '+')
	}
	dst = appendPadded(dst, int64(year), 4)
	dst = append(dst, '-')
	dst = appendPadded(dst, int64(t.Month()), 2)
	dst = append(dst, '-')
	return appendPadded(dst, int64(t.Day()), 2)
}

// appendClock writes a time of day in the given unit as HH:MM:SS with the unit's fraction digits.
func appendClock(dst []byte, v int64, u arrow.TimeUnit) []byte {
	digits, per := unitDigits(u)
	seconds, fraction := v/per, v%per
	dst = appendPadded(dst, seconds/3600, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, seconds/60%60, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, seconds%60, 2)
	if digits > 0 {
		dst = append(dst, '.')
		dst = appendPadded(dst, fraction, digits)
	}
	return dst
}

func appendTimestamp(dst []byte, v int64, u arrow.TimeUnit, zone bool) []byte {
	_, per := unitDigits(u)
	days, clock := floorDiv(v, daySeconds*per)
	dst = appendDate(dst, days)
	dst = append(dst, 'T')
	dst = appendClock(dst, clock, u)
	if zone {
		dst = append(dst, 'Z')
	}
	return dst
}

func appendPadded(dst []byte, v int64, width int) []byte {
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], v, 10)
	for n := len(digits); n < width; n++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// parseDate reads what appendDate writes and gives days since 1970-01-01.
func parseDate(s string) (int64, bool) {
	sign := int64(1)
	long := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		long = true
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if len(s) < 10 || len(s) > 18 || s[len(s)-6] != '-' || s[len(s)-3] != '-' {
		return 0, false
	}
	year, ok1 := parseDigits(s[:len(s)-6])
	month, ok2 := parseDigits(s[len(s)-5 : len(s)-3])
	day, ok3 := parseDigits(s[len(s)-2:])
	if !ok1 || !ok2 || !ok3 || !long && len(s) != 10 || year > 300_000_000 {
		return 0, false
	}
	t := time.Date(int(sign*year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	if int64(t.Month()) != month || int64(t.Day()) != day {
		return 0, false // such as 02-30, which time.Date carries over
	}
	return t.Unix() / daySeconds, true
}

// parseTime reads HH:MM:SS with an optional fraction of at most the unit's digits.
func parseTime(s string, u arrow.TimeUnit) (int64, bool) {
	digits, per := unitDigits(u)
	s, frac, point := strings.Cut(s, ".")
	if len(s) != 8 || s[2] != ':' || s[5] != ':' || point && frac == "" || len(frac) > digits {
		return 0, false
	}
	h, ok1 := parseDigits(s[:2])
	m, ok2 := parseDigits(s[3:5])
	sec, ok3 := parseDigits(s[6:])
	if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || sec > 59 {
		return 0, false
	}
	var fraction int64
	if point {
		var ok bool
		if fraction, ok = parseDigits(frac + strings.Repeat("0", digits-len(frac))); !ok {
			return 0, false
		}
	}
	return (h*3600+m*60+sec)*per + fraction, true
}

// parseTimestamp reads a date, a T or a space, and a time; with zone, a Z or an offset such as +02:00 must follow, without it none may.
func parseTimestamp(s string, u arrow.TimeUnit, zone bool) (int64, bool) {
	at := strings.IndexAny(s, "T ")
	if at < 0 {
		return 0, false
	}
	days, ok := parseDate(s[:at])
	clock := s[at+1:]
	var offset int64
	if zone && ok {
		clock, offset, ok = cutZone(clock)
	}
	if !ok {
		return 0, false
	}
	v, ok := parseTime(clock, u)
	if !ok {
		return 0, false
	}
	_, per := unitDigits(u)
	base := days*daySeconds - offset
	if base > (1<<63-1)/per-daySeconds || base < (-1<<63)/per+daySeconds {
		return 0, false // a date that the unit cannot count to
	}
	return base*per + v, true
}

// cutZone splits a zone from a time and gives its offset in seconds east.
func cutZone(s string) (clock string, offset int64, ok bool) {
	if rest, found := strings.CutSuffix(s, "Z"); found {
		return rest, 0, true
	}
	if len(s) < 6 || s[len(s)-3] != ':' {
		return "", 0, false
	}
	z := s[len(s)-6:]
	h, ok1 := parseDigits(z[1:3])
	m, ok2 := parseDigits(z[4:])
	offset = h*3600 + m*60
	switch {
	case !ok1 || !ok2 || h > 23 || m > 59:
		return "", 0, false
	case z[0] == '-':
		offset = -offset
	case z[0] != '+':
		return "", 0, false
	}
	return s[:len(s)-6], offset, true
}

// parseDigits reads digits only.
func parseDigits(s string) (int64, bool) {
	if s == "" || len(s) > 18 {
		return 0, false
	}
	var v int64
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, true
}
