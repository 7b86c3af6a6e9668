package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// callingModel is the model at a callingServer.
const callingModel = "calling/m"

// A callingServer speaks Anthropic's Messages. It calls a tool in each answer, as often as it is
// told, and then ends the turn.
type callingServer struct {
	*httptest.Server
	call    func(left int) (name, arguments string)
	left    atomic.Int32 // calls; -1 after the end of the turn
	largest atomic.Int64 // bytes of a request
}

func newCallingServer(call func(left int) (name, arguments string)) *callingServer {
	s := &callingServer{call: call}
	s.Server = httptest.NewServer(s)
	return s
}

// environ is the environment of a jp whose model callingModel is at the server.
func (s *callingServer) environ() []string {
	return append(os.Environ(), "JP_CFG_PROVIDERS__CALLING__BASE_URL="+s.URL, "JP_CFG_PROVIDERS__CALLING__DIALECT=anthropic")
}

// ServeHTTP implements [http.Handler].
func (s *callingServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	size, err := io.Copy(io.Discard, r.Body)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/messages") {
		http.NotFound(w, r)
		return
	}
	s.largest.Store(max(s.largest.Load(), size)) // one request at a time
	left := int(s.left.Add(-1))
	block, delta, stop := `{"type":"text","text":""}`, `{"type":"text_delta","text":"Done."}`, "end_turn"
	if left >= 0 {
		name, arguments := s.call(left)
		block = fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}`, time.Now().UnixNano(), name)
		delta = fmt.Sprintf(`{"type":"input_json_delta","partial_json":%q}`, arguments)
		stop = "tool_use"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range [][2]string{
		{"message_start", `"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`},
		{"content_block_start", `"index":0,"content_block":` + block},
		{"content_block_delta", `"index":0,"delta":` + delta},
		{"content_block_stop", `"index":0`},
		{"message_delta", `"delta":{"stop_reason":"` + stop + `"},"usage":{"output_tokens":9}`},
		{"message_stop", ""},
	} {
		fmt.Fprintf(w, "event: %s\ndata: {%s}\n\n", event[0], strings.TrimSuffix(`"type":"`+event[0]+`",`+event[1], ","))
	}
}
