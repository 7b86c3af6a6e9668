package google

import (
	"testing"

	"go.uber.org/goleak"
)

// The SDK's dependencies start a goroutine when they are linked, and never end
// it. Everything else has to end.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}
