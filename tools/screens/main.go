// Command screens draws terminal screens as pictures: text with the escape sequences of its colours becomes a PNG.
//
//	screens -font DejaVuSansMono.ttf -bold DejaVuSansMono-Bold.ttf OUT FILE.ansi…
//
// Each picture has the name of its file. One whose name ends in "light" has a light background.
package main

import (
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Sizes in pixels.
const (
	fontSize   = 15
	cellWidth  = 9
	cellHeight = 19
	border     = 12
)

// A theme is the colours of a terminal.
type theme struct {
	text, ground, dim color.RGBA
	named             [8]color.RGBA // black, red, green, yellow, blue, magenta, cyan, white
}

var (
	dark = theme{
		color.RGBA{220, 223, 228, 255}, color.RGBA{24, 26, 31, 255}, color.RGBA{128, 134, 146, 255},
		[8]color.RGBA{{40, 44, 52, 255}, {224, 108, 117, 255}, {130, 190, 110, 255}, {229, 192, 123, 255}, {97, 175, 239, 255}, {198, 120, 221, 255}, {86, 182, 194, 255}, {220, 223, 228, 255}},
	}
	light = theme{
		color.RGBA{40, 44, 52, 255}, color.RGBA{252, 252, 250, 255}, color.RGBA{130, 134, 140, 255},
		[8]color.RGBA{{40, 44, 52, 255}, {196, 40, 48, 255}, {44, 132, 60, 255}, {176, 116, 0, 255}, {24, 92, 188, 255}, {140, 50, 160, 255}, {0, 124, 140, 255}, {120, 124, 130, 255}},
	}
)

// A look is how a character is shown.
type look struct {
	text, ground *color.RGBA // nil: the theme's
	bold, dim    bool
}

func main() {
	regular := flag.String("font", "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf", "font of the text")
	bold := flag.String("bold", "/usr/share/fonts/truetype/dejavu/DejaVuSansMono-Bold.ttf", "font of bold text")
	flag.Parse()
	if err := run(*regular, *bold, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "screens:", err)
		os.Exit(1)
	}
}

func run(regular, bold string, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("want a folder and files, got %d arguments", len(args))
	}
	faces := map[bool]font.Face{}
	for isBold, file := range map[bool]string{false: regular, true: bold} {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		parsed, err := opentype.Parse(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if faces[isBold], err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: fontSize, DPI: 72, Hinting: font.HintingFull}); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	for _, file := range args[1:] {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(file), ".ansi")
		colours := dark
		if strings.HasSuffix(name, "light") {
			colours = light
		}
		out, err := os.Create(filepath.Join(args[0], name+".png"))
		if err != nil {
			return err
		}
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(out, picture(string(text), colours, faces)); err != nil {
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
	}
	return nil
}

var sequence = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// picture draws a screen.
func picture(text string, t theme, faces map[bool]font.Face) image.Image {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	columns := 0
	for _, line := range lines {
		columns = max(columns, len([]rune(strings.TrimRight(sequence.ReplaceAllString(line, ""), " "))))
	}
	img := image.NewRGBA(image.Rect(0, 0, columns*cellWidth+2*border, len(lines)*cellHeight+2*border))
	draw.Draw(img, img.Bounds(), image.NewUniform(t.ground), image.Point{}, draw.Src)
	for row, line := range lines {
		var l look
		column := 0
		for line != "" && column < columns {
			if at := sequence.FindStringSubmatchIndex(line); at != nil && at[0] == 0 {
				l = l.with(line[at[2]:at[3]], t)
				line = line[at[1]:]
				continue
			}
			r := []rune(line)[0]
			line = line[len(string(r)):]
			cell := image.Rect(column*cellWidth, row*cellHeight, (column+1)*cellWidth, (row+1)*cellHeight).Add(image.Pt(border, border))
			if l.ground != nil {
				draw.Draw(img, cell, image.NewUniform(*l.ground), image.Point{}, draw.Src)
			}
			d := font.Drawer{Dst: img, Src: image.NewUniform(l.colour(t)), Face: faces[l.bold], Dot: fixed.P(cell.Min.X, cell.Max.Y-5)}
			d.DrawString(string(r))
			column++
		}
	}
	return img
}

// colour is that of the text.
func (l look) colour(t theme) color.RGBA {
	switch {
	case l.text != nil:
		return *l.text
	case l.dim:
		return t.dim
	}
	return t.text
}

// with is a look after the numbers of an escape sequence.
func (l look) with(numbers string, t theme) look {
	var codes []int
	for code := range strings.SplitSeq(numbers, ";") {
		n, _ := strconv.Atoi(code)
		codes = append(codes, n)
	}
	for i := 0; i < len(codes); i++ {
		switch n := codes[i]; {
		case n == 0:
			l = look{}
		case n == 1:
			l.bold = true
		case n == 2:
			l.dim = true
		case n == 22:
			l.bold, l.dim = false, false
		case n == 39:
			l.text = nil
		case n == 49:
			l.ground = nil
		case 30 <= n && n <= 37:
			l.text = &t.named[n-30]
		case (n == 38 || n == 48) && i+4 < len(codes) && codes[i+1] == 2:
			c := color.RGBA{uint8(codes[i+2]), uint8(codes[i+3]), uint8(codes[i+4]), 255}
			if i += 4; n == 38 {
				l.text = &c
			} else {
				l.ground = &c
			}
		}
	}
	return l
}
