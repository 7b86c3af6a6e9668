package conversation

// A Prefilter lists texts of which the stored bytes of an event must hold one for the event to be of
// interest. The zero value passes everything.
type Prefilter struct {
	Any  []string // ASCII texts
	Fold bool     // letters are compared without case
	// Reduce drops parts of an event that passes, once it is read. Nil: events stay whole.
	Reduce func(e *Event)
}
