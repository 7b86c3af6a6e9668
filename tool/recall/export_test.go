package recall

// MaxOutput is how large a result may be.
const MaxOutput = maxOutput

// Leaf is an envelope of one element with content, in one without.
func Leaf(content, value string) string {
	var e envelope
	e.open("conversation", attribute{"title", value}, optional("none", ""), flag("not", false))
	e.leaf("event", content, attribute{"name", value}, flag("partial", true))
	e.close("conversation")
	return e.String()
}

// Parts of the envelope.
var (
	Clean  = clean
	InLine = inLine
	Fenced = fenced
	Clip   = clip
)
