package gitstore

import "time"

// Sign gives a commit a valid code, as only the owner of the key can.
func Sign(object, key []byte) ([]byte, error) {
	c, err := parseCommit(object)
	if err != nil {
		return nil, err
	}
	return (&signer{key: key}).encode(c), nil
}

// BoundCache sets the limit of all sidecars together, in bytes.
func (s *Store) BoundCache(bytes int64) { s.sidecars.limit = bytes }

// BoundAfter is after how many written bytes a process looks at all sidecars, and
// FirstBound how many it counts as written when it starts.
const BoundAfter = maxCache / boundShare

func FirstBound() int64 { return firstBound() }

// WaitForHeads sets the time to wait for a head that a prune took.
func (s *Store) WaitForHeads(d time.Duration) { s.restoring = d }

// Segments sets the number of events in a segment, until restore is called.
func Segments(events int) (restore func()) {
	was := segmentEvents
	segmentEvents = events
	return func() { segmentEvents = was }
}

// The files of a segment, for tests that change them.
type (
	RecordID = recordID
	IDLen    = idLen
	Record   = record
)

var (
	NewCommitLog  = newCommitLog
	ReadCommitLog = readCommitLog
	NewWordIndex  = newWordIndex
	ReadWordIndex = readWordIndex
)
