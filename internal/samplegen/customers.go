// Package samplegen makes the invented customers of
// testdata/samples/customers.parquet. Every row depends on its number alone,
// so a table of any length is the beginning of every longer one.
package samplegen

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Rows is the length of the sample file.
const Rows = 100_000

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "email", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "phone", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "card", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "birth_date", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
	{Name: "balance", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}, Nullable: true},
	{Name: "country", Type: arrow.BinaryTypes.String},
	{Name: "note", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

// Schema is the schema of the table.
func Schema() *arrow.Schema { return schema }

// customer is one row; an empty optional field with its flag set is NULL.
type customer struct {
	id                                                        int64
	name, email, phone, card, country, note                   string
	birth                                                     arrow.Date32
	cents                                                     int64
	noName, noEmail, noPhone, noCard, noBirth, noBal, hasNote bool
}

// row makes the customer of a row number.
func row(n int) customer {
	r := rng(uint64(n) * 0xd1342543de82ef95)
	l := &locales[r.below(len(locales))]
	given, family := l.given[r.below(len(l.given))], l.family[r.below(len(l.family))]
	first, last := given.text, family.text
	if l.familyFirst {
		first, last = last, first
	}
	c := customer{
		id:      int64(n) + 1,
		name:    first + l.glue + last,
		email:   email(&r, given.ascii, family.ascii),
		phone:   phone(&r, l.dial),
		card:    card(&r),
		country: l.country,
		birth:   arrow.Date32(r.below(30_000) - 12_000), // 1937 to 2019
		cents:   int64(r.below(2_000_000)) - 200_000,
		noName:  r.percent(1), noEmail: r.percent(3), noPhone: r.percent(5),
		noCard: r.percent(8), noBirth: r.percent(2), noBal: r.percent(2),
		hasNote: r.percent(60),
	}
	if c.hasNote {
		c.note = strings.NewReplacer(
			"{name}", given.text,
			"{phone}", c.phone,
			"{ref}", "R-"+strconv.Itoa(100_000+r.below(900_000)),
		).Replace(notes[r.below(len(notes))])
	}
	return c
}

func email(r *rng, given, family string) string {
	b := append([]byte(given), '.')
	b = append(b, family...)
	if r.percent(70) {
		b = r.digits(b, 1+r.below(3))
	}
	// The domains are reserved for examples by RFC 2606.
	return string(b) + [...]string{"@example.com", "@example.org", "@mail.example.net"}[r.below(3)]
}

func phone(r *rng, dial string) string {
	b := append([]byte(dial), ' ')
	b = r.digits(b, 3)
	b = append(b, [...]byte{' ', '-'}[r.below(2)])
	return string(r.digits(b, 6))
}

// card is a number with a valid check digit (Luhn) under the prefix 9999,
// which no issuer has.
func card(r *rng) string {
	b := r.digits([]byte("9999"), 11)
	sum := 0
	for i, c := range b {
		d := int(c - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return string(append(b, byte('0'+(10-sum%10)%10)))
}

// Batch makes the rows first to first+n-1, counted from 0. The caller releases
// it.
func Batch(mem memory.Allocator, first, n int) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	b.Reserve(n)
	text := func(col int, s string, null bool) {
		f := b.Field(col).(*array.StringBuilder)
		if null {
			f.AppendNull()
		} else {
			f.Append(s)
		}
	}
	for i := first; i < first+n; i++ {
		c := row(i)
		b.Field(0).(*array.Int64Builder).Append(c.id)
		text(1, c.name, c.noName)
		text(2, c.email, c.noEmail)
		text(3, c.phone, c.noPhone)
		text(4, c.card, c.noCard)
		if c.noBirth {
			b.Field(5).AppendNull()
		} else {
			b.Field(5).(*array.Date32Builder).Append(c.birth)
		}
		if c.noBal {
			b.Field(6).AppendNull()
		} else {
			b.Field(6).(*array.Decimal128Builder).Append(decimal128.FromI64(c.cents))
		}
		text(7, c.country, false)
		text(8, c.note, !c.hasNote)
	}
	return b.NewRecordBatch()
}
