package attach

import "unicode/utf8"

// Bounds of the text that is kept until it is durable, in bytes.
const (
	maxInFlight = 1 << 20
	joined      = 4 << 10 // up to which text that comes in bits is put together
)

// inFlight is the text of a model call that is not durable yet, in the order in
// which it came.
type inFlight struct {
	parts []*Delta
	size  int
}

// add adds text. That of an earlier model call is gone: it was broken off, and
// the call was made again.
func (f *inFlight) add(d *Delta) {
	if len(f.parts) > 0 && f.parts[0].Call != d.Call {
		f.parts, f.size = nil, 0
	}
	f.size += len(d.Text)
	if n := len(f.parts) - 1; n >= 0 && f.parts[n].joins(d) {
		f.parts[n] = &Delta{Seq: d.Seq, Call: d.Call, Part: d.Part, At: f.parts[n].At, Text: f.parts[n].Text + d.Text}
	} else {
		f.parts = append(f.parts, d)
	}
	for f.size > maxInFlight {
		f.shorten()
	}
}

// joins reports whether other begins at the end of d, and both together are short.
func (d *Delta) joins(other *Delta) bool {
	return d.Seq == other.Seq && d.Part == other.Part && d.At+len(d.Text) == other.At && len(d.Text)+len(other.Text) <= joined
}

// shorten drops the oldest piece.
func (f *inFlight) shorten() {
	f.size -= len(f.parts[0].Text)
	f.parts = f.parts[1:]
}

// durable drops text that has become an event.
func (f *inFlight) durable(seq int) {
	kept := f.parts[:0:0]
	f.size = 0
	for _, d := range f.parts {
		if d.Seq > seq {
			kept = append(kept, d)
			f.size += len(d.Text)
		}
	}
	f.parts = kept
}

// pieces cuts text into pieces that fit a message.
func pieces(d Delta) (cut []*Delta) {
	for {
		piece := d
		if len(d.Text) <= longestPiece {
			return append(cut, &piece)
		}
		n := longestPiece
		for n > longestPiece-utf8.UTFMax && !utf8.RuneStart(d.Text[n]) {
			n--
		}
		piece.Text = d.Text[:n]
		cut = append(cut, &piece)
		d.At, d.Text = d.At+n, d.Text[n:]
	}
}
