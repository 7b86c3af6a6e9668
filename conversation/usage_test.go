package conversation_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	. "jp/conversation"
)

// TestUsageOfHeader compares the usage of a header with the standard library's reading.
func TestUsageOfHeader(t *testing.T) {
	for _, text := range []string{
		`{"input":480,"output":136}`,
		`{"input":1,"output":2,"cache_read":3,"cache_write":4,"cost_usd":"0.0084","duration_ms":1700}`,
		`{"duration_ms":9223372036854775807,"input":-1,"output":-0}`,
		`{"cost_usd":"\u0030.\t1"}`,
		`{}`,
		`null`,
		`{"input":null}`,
		`{"INPUT":5}`,
		`{"input":5,"of a newer jp":[1,{"a":2}]}`,
		`{"input":1.0}`,
		`{"input":1e2}`,
		`{"input":"5"}`,
		`{"input":9223372036854775808}`,
		`{"cost_usd":0.1}`,
		`[]`,
		`7`,
	} {
		t.Run(text, func(t *testing.T) {
			var want *Usage
			fault := json.Unmarshal([]byte(text), &want)
			header := fmt.Sprintf(`{"v":1,"type":"chat_response","part":"message","seq":1,"turn":1,"time":"2026-01-02T03:04:05Z","usage":%s}`, text)
			e, _, err := DecodeHeader([]byte(header))
			if fault != nil {
				require.ErrorIs(t, err, ErrDamaged)
				return
			}
			require.NoError(t, err)
			require.Equal(t, want, e.Body.(*ChatResponse).Usage)
		})
	}
}
