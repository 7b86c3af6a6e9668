package vendortest

import (
	"fmt"
	"net/http"
	"strings"

	"jp/internal/testing/wirecheck"
)

// Strict makes the server refuse a request that breaks a rule, as its vendor does: with status 400 and in the
// vendor's form. The test goes on. [Server.Refused] has the refusals.
func (s *Server) Strict() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strict = true
}

// Always makes the server answer every request alike, without a script.
func (s *Server) Always(reply Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = &reply
}

// Gave lists the ids of calls that a vendor gave in a conversation without this server: exactly those come
// back.
func (s *Server) Gave(v Vendor, ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gave = map[string][]string{v.Name: ids}
}

// Refused are the rules for which requests were refused, each with its place.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.refused...)
}

// refuses answers a request that breaks rules, if the server is strict.
func (s *Server) refuses(w http.ResponseWriter, v Vendor, broken []wirecheck.Violation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.strict || len(broken) == 0 {
		return false
	}
	for _, b := range broken {
		s.refused = append(s.refused, b.String())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprint(w, v.speech.complaint(worded(broken[0])))
	return true
}

// vendorWords are how vendors put the rules that are broken most, by a word that the
// problem has in it.
var vendorWords = []struct{ rule, problem, words string }{
	{"P12", "stands at the top level", "input_schema does not support oneOf, allOf, or anyOf at the top level"},
	{"P12", "without items", "array schema missing items"},
	{"P12", "no properties", "object schema missing properties"},
	{"P12", "more than", "array too long"},
	{"P12", "beside anyOf", "when using anyOf, type should be defined in anyOf items instead of the parent schema"},
	{"P12", "does not match", "Property keys should match pattern"},
	{"C1", "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"},
	{"C7", "has no reasoning", "thinking is enabled but reasoning_content is missing in assistant tool call message"},
	{"C7", "may not follow a tool message", "Unexpected role 'user' after role 'tool'"},
	{"C2", "", "missing field `content`"},
	{"A2", "", "tool_use ids were found without tool_result blocks immediately after"},
	{"A1", "", "messages: roles must alternate"},
	{"R1", "", "No tool output found for function call"},
	{"G2", "", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."},
}

func worded(v wirecheck.Violation) string {
	for _, w := range vendorWords {
		if v.Rule == w.rule && strings.Contains(v.Problem, w.problem) {
			return w.words + " (" + v.Where + ")"
		}
	}
	return v.Where + ": " + v.Problem
}

func (messages) complaint(words string) string {
	return string(object("type", "error", "error", object("type", "invalid_request_error", "message", words)))
}

func (responses) complaint(words string) string { return openaiComplaint(words) }

func (gemini) complaint(words string) string {
	return string(object("error", object("code", 400, "message", words, "status", "INVALID_ARGUMENT")))
}

func (c chat) complaint(words string) string {
	if c.compatible != nil {
		quoted := string(encode(words))
		return strings.Replace(c.compatible.says, "%s", quoted[1:len(quoted)-1], 1)
	}
	return openaiComplaint(words)
}

func openaiComplaint(words string) string {
	return string(object("error", object("message", words, "type", "invalid_request_error", "param", nil, "code", "invalid_value")))
}
