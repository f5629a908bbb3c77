package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/arrowmask/arrowmask/bench/result"
)

const (
	chartWidth  = 7.2 * vg.Inch
	chartHeight = 4.2 * vg.Inch
)

// palette tells sides apart for readers who see colours differently (Okabe and
// Ito's set). arrowmask is always the first.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0x7a, 0x62, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x55, 0x55, 0x55, 0xff},
}

var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{},
}

// series is one side of a line chart.
type series struct {
	name   string
	points plotter.XYs
}

// axis is what a line chart has along one of its sides.
type axis struct {
	label string
	log   bool
	marks []float64 // where the ticks are; none leaves it to the values
}

func newPlot(title string) *plot.Plot {
	p := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	for _, f := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font,
	} {
		*f = sans
	}
	p.Title.Text = title
	p.Title.TextStyle.Font.Size = font.Length(14)
	p.Title.Padding = vg.Points(8)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font.Size = font.Length(12)
		a.Label.Padding = vg.Points(6)
		a.Tick.Label.Font.Size = font.Length(11)
		a.Tick.Marker = evenTicks{}
	}
	p.Legend.Top = true
	p.Legend.Left = true
	p.Legend.TextStyle.Font.Size = font.Length(11)
	p.Legend.Padding = vg.Points(2)
	p.Legend.XOffs = vg.Points(8)
	p.Legend.ThumbnailWidth = vg.Points(22)
	return p
}

func (a axis) set(to *plot.Axis) {
	to.Label.Text = a.label
	if a.log {
		to.Scale = plot.LogScale{}
		to.Tick.Marker = logTicks{}
	}
	if len(a.marks) > 0 {
		to.Tick.Marker = marks(a.marks)
	}
}

// lines draws a line a series. The legend gets room above the lines.
func lines(title string, x, y axis, all []series) ([]byte, error) {
	p := newPlot(title)
	x.set(&p.X)
	y.set(&p.Y)
	p.Add(plotter.NewGrid())
	for i, s := range all {
		l, pts, err := plotter.NewLinePoints(s.points)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", title, s.name, err)
		}
		l.Color, l.Width = palette[i%len(palette)], vg.Points(1.6)
		if s.name == result.Ours {
			l.Width = vg.Points(3)
		}
		pts.Color, pts.Shape, pts.Radius = l.Color, shapes[i%len(shapes)], vg.Points(3.5)
		p.Add(l, pts)
		p.Legend.Add(s.name, l, pts)
	}
	low, high := p.Y.Min, p.Y.Max
	room := 0.075 * float64(len(all)+1) // of the height, for the legend
	if y.log {
		p.Y.Min = math.Pow(10, math.Log10(low)-0.08)
		p.Y.Max = math.Pow(10, math.Log10(high)+room/(1-room)*math.Log10(high/low)+0.05)
	} else {
		p.Y.Min = 0
		p.Y.Max = high / (1 - room)
	}
	return svg(p)
}

// bars draws a group of bars for each name in groups, a bar a series; those of a
// single series lie, so that long names have room. Values are by series, then by
// group; NaN leaves a bar out.
func bars(title, label string, groups, names []string, values [][]float64) ([]byte, error) {
	p := newPlot(title)
	lie := len(names) == 1
	along, across := &p.Y, &p.X // the axes of the values and of the groups
	room := 430.0               // points for the groups
	if lie {
		along, across = &p.X, &p.Y
		room = 220
		p.NominalY(groups...)
	} else {
		p.NominalX(groups...)
	}
	along.Label.Text = label
	p.Add(plotter.NewGrid())
	width := vg.Points(math.Min(26, 0.85*room/float64(len(groups)*len(names))))
	high := 0.0
	for i, name := range names {
		offset := width * vg.Length(float64(i)-float64(len(names)-1)/2)
		b, l, top, err := bar(values[i], width, offset, lie)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", title, name, err)
		}
		b.Color = palette[i%len(palette)]
		p.Add(b, l)
		high = math.Max(high, top)
		if !lie {
			p.Legend.Add(name, b)
		}
	}
	across.Min, across.Max = -0.5, float64(len(groups))-0.5
	along.Min, along.Max = 0, high*1.12
	if !lie {
		along.Max = high * (1.1 + 0.08*float64(len(names)))
	}
	return svg(p)
}

// bar is the bars of one series with their figures, and the largest of them.
func bar(values []float64, width, offset vg.Length, lie bool) (*plotter.BarChart, *plotter.Labels, float64, error) {
	heights := make(plotter.Values, len(values))
	var (
		tops plotter.XYLabels
		high float64
	)
	for g, v := range values {
		if math.IsNaN(v) {
			continue
		}
		heights[g] = v
		high = math.Max(high, v)
		at := plotter.XY{X: float64(g), Y: v}
		if lie {
			at = plotter.XY{X: v, Y: float64(g)}
		}
		tops.XYs = append(tops.XYs, at)
		tops.Labels = append(tops.Labels, brief(v))
	}
	b, err := plotter.NewBarChart(heights, width)
	if err != nil {
		return nil, nil, 0, err
	}
	b.LineStyle.Width, b.Offset, b.Horizontal = 0, offset, lie
	l, err := plotter.NewLabels(tops)
	if err != nil {
		return nil, nil, 0, err
	}
	for j := range l.TextStyle {
		l.TextStyle[j].Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: font.Length(9)}
		l.TextStyle[j].XAlign = draw.XCenter
		if lie {
			l.TextStyle[j].XAlign, l.TextStyle[j].YAlign = draw.XLeft, draw.YCenter
		}
	}
	l.Offset = vg.Point{X: offset, Y: vg.Points(2)}
	if lie {
		l.Offset = vg.Point{X: vg.Points(3), Y: offset}
	}
	return b, l, high, nil
}

// svg is the picture.
func svg(p *plot.Plot) ([]byte, error) {
	c := vgsvg.New(chartWidth, chartHeight)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// marks are ticks at given values.
type marks []float64

func (m marks) Ticks(_, _ float64) []plot.Tick {
	ticks := make([]plot.Tick, len(m))
	for i, v := range m {
		ticks[i] = plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)}
	}
	return ticks
}

// evenTicks are about five round values, each with a label.
type evenTicks struct{}

func (evenTicks) Ticks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	for _, f := range []float64{2, 2.5, 2} { // 2, 5 and 10 times the power of ten
		if (high-low)/step <= 6 {
			break
		}
		step *= f
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: short(i * step)})
	}
	return ticks
}

// logTicks are the powers of ten with a label, and 2 and 5 times them: with one
// too, where the axis spans less than three powers.
type logTicks struct{}

func (logTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	narrow := math.Log10(high/low) < 3
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, f := range []float64{1, 2, 5} {
			v := f * math.Pow(10, e)
			if v < low || v > high {
				continue
			}
			t := plot.Tick{Value: v}
			if f == 1 || narrow {
				t.Label = short(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// short writes 1500 as 1.5k.
func short(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.size {
			return strconv.FormatFloat(v/u.size, 'g', 3, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// brief is a figure of at most three characters: bars stand close together.
func brief(v float64) string {
	if v < 9.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}
