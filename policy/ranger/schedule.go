package ranger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a policy must not depend on the host's zone files

	"github.com/arrowmask/arrowmask/policy"
)

// schedule is a time during which a policy, or a tag, holds.
type schedule struct {
	start, end  time.Time // zero: open
	recurrences []recurrence
}

// recurrence opens a window at every instant that fits its fields. The fields
// are read in the zone that Options.Zone names, as Ranger reads them in its
// process's zone.
type recurrence struct {
	minutes, hours, days, weekdays, months, years set
	window                                        time.Duration
}

// set is the accepted values of a field; nil accepts all.
type set map[int]bool

func (s set) has(n int) bool { return s == nil || s[n] }

const scheduleTime = "2006/01/02 15:04:05"

// javaZones are the short names that Java knows and the zone database does not.
var javaZones = map[string]string{
	"ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo",
	"AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns",
	"CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis",
	"IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland",
	"PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico", "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal",
	"VST": "Asia/Ho_Chi_Minh",
}

// zone finds a time zone. Java takes an unknown one for GMT without a word;
// here it is an error.
func zone(name string) (*time.Location, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return time.UTC, nil
	}
	if long, ok := javaZones[name]; ok {
		name = long
	}
	if rest, ok := strings.CutPrefix(name, "GMT"); ok && rest != "" && (rest[0] == '+' || rest[0] == '-') {
		for _, layout := range []string{"-07:00", "-0700", "-07"} {
			if t, err := time.Parse(layout, rest); err == nil {
				_, sec := t.Zone()
				return time.FixedZone(name, sec), nil
			}
		}
	}
	if name == "Local" {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q", name)
	}
	return l, nil
}

// readSchedule reads and checks a schedule by the rules that Ranger's admin
// checks them by; every finding is one error.
func readSchedule(o object) schedule {
	var s schedule
	loc, err := zone(o.scalar("timeZone"))
	if err != nil {
		o.errf("timeZone", "%v", err)
		loc = time.UTC
	}
	read := func(key string) (t time.Time) {
		text := strings.TrimSpace(o.str(key))
		if text == "" {
			return
		}
		t, err := time.ParseInLocation(scheduleTime, text, loc)
		if err != nil {
			o.errf(key, "want yyyy/MM/dd HH:mm:ss")
		}
		return t
	}
	bad := len(*o.errs)
	s.start, s.end = read("startTime"), read("endTime")
	switch {
	case len(*o.errs) > bad:
	case s.start.IsZero() && s.end.IsZero():
		o.errf("", "a schedule has a start or an end")
	case !s.start.IsZero() && !s.end.IsZero() && s.end.Before(s.start):
		o.errf("endTime", "before startTime")
	}
	for _, r := range o.objects("recurrences") {
		if rec, ok := readRecurrence(r); ok {
			s.recurrences = append(s.recurrences, rec)
		}
	}
	return s
}

func readRecurrence(o object) (recurrence, bool) {
	bad := len(*o.errs)
	var r recurrence
	if !o.has("schedule") {
		o.errf("schedule", "missing")
		return r, false
	}
	if !o.has("interval") {
		o.errf("interval", "missing")
		return r, false
	}
	f := o.object("schedule")
	r.minutes = readField(f, "minute", 0, 59, false)
	r.hours = readField(f, "hour", 0, 23, true)
	r.days = readField(f, "dayOfMonth", 1, 31, true)
	r.weekdays = readField(f, "dayOfWeek", 1, 7, true)
	r.months = readField(f, "month", 1, 12, true)
	r.years = readField(f, "year", 2017, 2100, true)
	if strings.TrimSpace(f.scalar("dayOfMonth")) == "" && strings.TrimSpace(f.scalar("dayOfWeek")) == "" {
		f.errf("dayOfMonth", "neither a day of the month nor of the week")
	}
	iv := o.object("interval")
	days, hours, minutes := iv.integer("days", 0), iv.integer("hours", 0), iv.integer("minutes", 0)
	switch {
	case days < 0 || days > 366*84 || hours < 0 || hours > 23 || minutes < 0 || minutes > 59:
		iv.errf("", "days from 0, hours from 0 to 23, minutes from 0 to 59")
	default:
		r.window = time.Duration(days)*24*time.Hour + time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	}
	return r, len(*o.errs) == bad
}

// readField reads "1, 5-7, *". A field that is blank accepts nothing, except
// that one of the two kinds of day may be blank: then the other one counts.
func readField(o object, key string, lo, hi int, star bool) set {
	text := strings.Map(func(r rune) rune {
		if r == ' ' || r == '\t' {
			return -1
		}
		return r
	}, o.scalar(key))
	out := set{}
	if text == "" {
		if key != "dayOfMonth" && key != "dayOfWeek" {
			o.errf(key, "missing")
		}
		return out
	}
	number := func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n, err == nil && s[0] != '+' && n >= lo && n <= hi
	}
	var ranges [][2]int
	all := false
	for _, part := range strings.Split(text, ",") {
		switch a, b, isRange := strings.Cut(part, "-"); {
		case part == "*" && star:
			all = true
		case isRange && a != "":
			from, ok1 := number(a)
			to, ok2 := number(b)
			if !ok1 || !ok2 || from >= to {
				o.errf(key, "%q is no range from %d to %d", part, lo, hi)
				continue
			}
			ranges = append(ranges, [2]int{from, to})
		default:
			n, ok := number(part)
			if !ok {
				o.errf(key, "%q is not from %d to %d", part, lo, hi)
				continue
			}
			out[n] = true
		}
	}
	slices.SortFunc(ranges, func(a, b [2]int) int { return a[0] - b[0] })
	for i, r := range ranges {
		if i > 0 && r[0] <= ranges[i-1][1] {
			o.errf(key, "ranges overlap")
		}
		for n := r[0]; n <= r[1]; n++ {
			out[n] = true
		}
	}
	if all {
		return nil
	}
	return out
}

// applies reports whether any schedule holds at a time, and for how long that
// answer stands. No schedules hold always.
func applies(list []schedule, at time.Time, loc *time.Location) (bool, policy.Span) {
	if len(list) == 0 {
		return true, policy.Span{}
	}
	holds, span := false, policy.Span{}
	for i := range list {
		ok, s := list[i].at(at, loc)
		holds, span = holds || ok, span.And(s)
	}
	return holds, span
}

// at answers for one schedule. Both ends are included, to the millisecond.
func (s *schedule) at(at time.Time, loc *time.Location) (bool, policy.Span) {
	at = at.Truncate(time.Millisecond)
	if !s.start.IsZero() && at.Before(s.start) {
		return false, policy.Span{Until: s.start.Add(-time.Nanosecond)}
	}
	if !s.end.IsZero() && at.After(s.end) {
		return false, policy.Span{From: s.end.Add(time.Millisecond)}
	}
	if len(s.recurrences) == 0 {
		span := policy.Span{From: s.start}
		if !s.end.IsZero() {
			span.Until = s.end.Add(time.Millisecond - time.Nanosecond)
		}
		return true, span
	}
	// A recurrence may start or end with any minute, and a window ends with the
	// first millisecond of one: the answer stands for this millisecond.
	now := policy.Span{From: at, Until: at.Add(time.Millisecond - time.Nanosecond)}
	for i := range s.recurrences {
		if s.recurrences[i].open(at, loc) {
			return true, now
		}
	}
	return false, now
}

// open reports whether a window covers a time: whether some instant that fits
// lies at most a window back. A day fits by its number or by its weekday,
// whichever comes: "*" in one of them is every day. A window of no length is
// always open.
func (r *recurrence) open(at time.Time, loc *time.Location) bool {
	if r.window == 0 {
		return true
	}
	at = at.In(loc)
	first := at.Add(-r.window)
	for day := time.Date(at.Year(), at.Month(), at.Day(), 12, 0, 0, 0, loc); ; day = day.AddDate(0, 0, -1) {
		y, m, d := day.Date()
		if end := time.Date(y, m, d, 23, 59, 59, 0, loc); end.Before(first) || y < 2017 {
			return false
		}
		if !r.years.has(y) || !r.months.has(int(m)) || !r.days.has(d) && !r.weekdays.has(int(day.Weekday())+1) {
			continue
		}
		for h := 23; h >= 0; h-- {
			if !r.hours.has(h) {
				continue
			}
			for minute := 59; minute >= 0; minute-- {
				if !r.minutes.has(minute) {
					continue
				}
				for _, t := range instants(y, m, d, h, minute, loc) {
					if !t.After(at) && !t.Before(first) {
						return true
					}
				}
			}
		}
	}
}

// instants are those at which a clock in loc shows a minute: two where it is set
// back and shows it twice, none where it is set forward over it.
func instants(y int, m time.Month, d, h, minute int, loc *time.Location) []time.Time {
	wall := time.Date(y, m, d, h, minute, 0, 0, time.UTC)
	var found []time.Time
	for _, near := range []time.Duration{-24 * time.Hour, 24 * time.Hour} { // offsets before and after a change
		_, offset := wall.Add(near).In(loc).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(loc)
		if t.Hour() == h && t.Minute() == minute && t.Day() == d && (len(found) == 0 || !t.Equal(found[0])) {
			found = append(found, t)
		}
	}
	return found
}
