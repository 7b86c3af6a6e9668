package conversation

// NewestState is a delegate's newest description of its work in the newest turn, or nil.
func NewestState(events []*Event) *WorkState {
	for i := len(events) - 1; i >= 0; i-- {
		switch b := events[i].Body.(type) {
		case *WorkState:
			return b
		case *TurnStart:
			return nil
		}
	}
	return nil
}
