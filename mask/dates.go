package mask

import "encoding/binary"

// dateRule says what becomes of the parts of a date: a value, or keep. The
// month counts from 1.
type dateRule struct{ day, month, year int64 }

// Years whose every day fits a Date32.
const (
	minYear = -5877640
	maxYear = 5881579
)

const millisPerDay = 24 * 60 * 60 * 1000

// mayFail reports whether some date has no answer: the parts make up a day
// that does not exist, or one outside the type's range.
func (d dateRule) mayFail() bool {
	if d.year == keep && (d.month != keep || d.day != keep) {
		return true // the first or last year of the type is not whole
	}
	for _, year := range []int64{2000, 2001} {
		for month := int64(1); month <= 12; month++ {
			for day := int64(1); day <= daysIn(year, month); day++ {
				if _, ok := d.apply(year, month, day); !ok {
					return true
				}
			}
		}
	}
	return false
}

// apply replaces the parts and is the day number; ok is false when there is no
// such day.
func (d dateRule) apply(year, month, day int64) (days int64, ok bool) {
	if d.year != keep {
		year = d.year
	}
	if d.month != keep {
		month = d.month
	}
	if d.day != keep {
		day = d.day
	}
	return dayNumber(year, month, day), day <= daysIn(year, month)
}

// dateMask replaces parts of dates, in the proleptic Gregorian calendar. A day
// that does not exist (30 February), or lies outside the type, is NULL. A
// Date64 loses its time of day.
type dateMask struct {
	rule   dateRule
	width  int  // 4: days, 8: milliseconds
	strict bool // such a day is an error instead
}

func newDateMask(t Type, s *settings, strict bool) *dateMask {
	return &dateMask{rule: s.date, width: t.size(), strict: strict}
}

func (m *dateMask) eval(r *run, in *Vector) (*Vector, error) {
	out := &Vector{Type: in.Type, Len: in.Len}
	r.copyNulls(out, in)
	if mayFail := m.rule.mayFail(); mayFail && out.Valid == nil {
		out.Valid = r.bytes(bitmapSize(in.Len))
		for i := range out.Valid {
			out.Valid[i] = 0xff
		}
		if n := in.Len & 7; n != 0 {
			out.Valid[len(out.Valid)-1] = 1<<n - 1
		}
	}
	out.Data = r.bytes(in.Len * m.width)
	err := r.each(in.Len, numberRows, func(_, lo, hi int) error {
		bad := m.rows(out, in, lo, hi)
		if bad >= 0 && m.strict {
			return r.badValue(bad, "no such day")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if out.Valid != nil {
		out.Nulls = countZeros(out.Valid, 0, out.Len)
	}
	return out, nil
}

// rows is also the first row without an answer, or -1.
func (m *dateMask) rows(out, in *Vector, lo, hi int) (bad int) {
	bad = -1
	le := binary.LittleEndian
	for i := lo; i < hi; i++ {
		dst, src := out.Data[i*m.width:(i+1)*m.width], in.Data[i*m.width:]
		if in.IsNull(i) {
			clear(dst)
			continue
		}
		var days int64
		if m.width == 4 {
			days = int64(int32(le.Uint32(src)))
		} else {
			days = floorDiv(int64(le.Uint64(src)), millisPerDay)
		}
		days, ok := m.rule.apply(civil(days))
		if m.width == 4 {
			if ok = ok && days == int64(int32(days)); ok {
				le.PutUint32(dst, uint32(days))
			}
		} else {
			millis := days * millisPerDay
			if ok = ok && millis/millisPerDay == days; ok {
				le.PutUint64(dst, uint64(millis))
			}
		}
		if !ok {
			clear(dst)
			out.Valid[i>>3] &^= 1 << (i & 7)
			if bad < 0 {
				bad = i
			}
		}
	}
	return bad
}

// The calendar: years begin in March, so that the leap day is the last day of
// its year; 400 of them are one era of 146097 days.
const (
	eraDays   = 146097
	eraOffset = 719468 // days from 0000-03-01 to 1970-01-01
)

// civil is the date of a day number since 1970-01-01.
func civil(days int64) (year, month, day int64) {
	days += eraOffset
	era := floorDiv(days, eraDays)
	d := days - era*eraDays                           // day of the era
	y := (d - d/1460 + d/36524 - d/(eraDays-1)) / 365 // year of the era
	d -= 365*y + y/4 - y/100                          // day of the year
	m := (5*d + 2) / 153                              // month from March
	year, month, day = era*400+y, m+3, d-(153*m+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

// dayNumber is the reverse of civil; the day may exceed its month.
func dayNumber(year, month, day int64) int64 {
	m := month - 3
	if m < 0 {
		year, m = year-1, m+12
	}
	era := floorDiv(year, 400)
	y := year - era*400
	return era*eraDays + y*365 + y/4 - y/100 + (153*m+2)/5 + day - 1 - eraOffset
}

// daysIn is the number of days of a month.
func daysIn(year, month int64) int64 {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// floorDiv is a/b rounded down, b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
