package vendortest

import (
	"strings"
	"unicode/utf8"
)

// Rough are legal or common ways of a server that are hard on clients. The zero value is a plain stream.
type Rough struct {
	Bytes      int    // size of the pieces, with any boundaries; 0: whole events
	CRLF       bool   // lines end so
	Comments   bool   // between events
	Pings      bool   // events that only say that the server lives
	Unknown    bool   // events and fields that clients do not know
	Empty      bool   // empty deltas
	Letters    bool   // text and arguments come letter by letter
	Interleave bool   // the arguments of several calls come in turns, if the API can
	SplitData  bool   // an event has several lines of data
	NoSpace    bool   // behind the colon
	Mark       bool   // the stream begins with a byte order mark
	Type       string // content type; "": text/event-stream
}

// style is the part of a rough server about the events of an API.
type style struct {
	Rough
	model  string
	reply  int  // number, which makes ids
	halved bool // pieces end within characters
}

// pieces are a text as it is streamed.
func (s style) pieces(text string) []string {
	var all []string
	switch {
	case text == "":
	case s.Letters:
		for _, letter := range text {
			all = append(all, string(letter))
		}
	default:
		all = strings.SplitAfter(text, " ")
	}
	all = s.broken(all)
	if s.Empty {
		spaced := []string{""}
		for _, piece := range all {
			spaced = append(spaced, piece, "")
		}
		return spaced
	}
	return all
}

// halves are arguments as they are streamed, cut between characters.
func (s style) halves(text string) []string {
	if s.Letters || text == "" {
		return s.pieces(text)
	}
	at := len(text) / 2
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	all := s.broken([]string{text[:at], text[at:]})
	if s.Empty {
		spaced := []string{""}
		for _, piece := range all {
			spaced = append(spaced, piece, "")
		}
		return spaced
	}
	return all
}

// broken cuts pieces within characters, if the style says so.
func (s style) broken(pieces []string) []string {
	if !s.halved {
		return pieces
	}
	var all []string
	for _, piece := range pieces {
		all = append(all, halves(piece)...)
	}
	return all
}

// unknown adds a field unknown to clients to an event's data, which is an
// object.
func (s style) unknown(data string) string {
	if !s.Unknown {
		return data
	}
	return strings.TrimSuffix(data, "}") + `,"x_unheard_of":{"deep":[1,null,"é"]}}`
}

// write is an event as it goes over the wire.
func (s style) write(e event) string {
	end, space := "\n", " "
	if s.CRLF {
		end = "\r\n"
	}
	if s.NoSpace {
		space = ""
	}
	var out strings.Builder
	if s.Comments || e.comment {
		out.WriteString(": OPENROUTER PROCESSING" + end + end)
	}
	if e.comment {
		return out.String()
	}
	if e.name != "" {
		out.WriteString("event:" + space + e.name + end)
	}
	if s.Unknown {
		out.WriteString("id:" + space + "7" + end + "retry:" + space + "3000" + end)
	}
	data := escapedHalves(e.data)
	if s.SplitData && strings.HasPrefix(data, "{") {
		out.WriteString("data:" + space + "{" + end)
		data = data[1:]
	}
	out.WriteString("data:" + space + data + end + end)
	return out.String()
}

// cut cuts bytes as they are sent.
func (s style) cut(text string) []string {
	if s.Bytes <= 0 {
		return []string{text}
	}
	var all []string
	for len(text) > s.Bytes {
		all, text = append(all, text[:s.Bytes]), text[s.Bytes:]
	}
	return append(all, text)
}

// turns puts the events of several sequences in turns, if the style says so,
// else one sequence behind the other.
func (s style) turns(sequences [][]event) (all []event) {
	if !s.Interleave {
		for _, sequence := range sequences {
			all = append(all, sequence...)
		}
		return all
	}
	for at, more := 0, true; more; at++ {
		more = false
		for _, sequence := range sequences {
			if at < len(sequence) {
				all, more = append(all, sequence[at]), true
			}
		}
	}
	return all
}
