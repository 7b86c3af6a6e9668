package conversation

// NewestState is what a delegate said last of its work in the newest turn, nil
// if it said nothing.
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
