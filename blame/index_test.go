package blame

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A file that ends early, or has another byte anywhere, has no records.
func TestIndexDamage(t *testing.T) {
	rec := &record{
		Conversation: "jp-c17528832001-k3f9", Head: "h", Paths: []string{"a", "b"},
		Sources: []source{{Commit: "c", Seq: 3, Time: time.Unix(1, 0).UTC(), Author: "fs_create_file", Writer: byTool}},
		written: []written{{0, false}, {0, true}}, hunks: []hunk{{1, []keyedLine{{7, 0}, {9, unknownSource}, {8, 1}}}},
	}
	rec.encoded = encodeRecord(rec)
	whole := joinRecords([][]byte{[]byte(indexMagic), rec.encoded, rec.encoded})
	again := decodeIndex(whole)
	require.Equal(t, []*record{rec, rec}, again)
	for n := range whole {
		require.Nil(t, decodeIndex(whole[:n]))
		changed := bytes.Clone(whole)
		changed[n] ^= 0x20
		require.Nil(t, decodeIndex(changed))
	}
}
