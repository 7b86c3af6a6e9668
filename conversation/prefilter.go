package conversation

// A Prefilter says what the stored bytes of an event must hold for the event to be
// of interest: one of the texts. The zero value passes everything.
type Prefilter struct {
	Any  []string // ASCII texts
	Fold bool     // letters are compared without case
}
