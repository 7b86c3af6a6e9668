package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"jp/internal/lazy"
)

// A Complaint is a server's account of an error. Servers differ in its place, and in the type of its code.
type Complaint struct {
	Message string
	Type    string
	Code    string // a name, or a status of HTTP
	Status  string
}

// ComplaintIn finds the complaint in a body or an event: in "error", in the value itself, or in the first
// element of a list. Any other text is its message.
func ComplaintIn(body []byte) Complaint {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error  json.RawMessage   `json:"error"`
		Errors []json.RawMessage `json:"errors"`
	}
	switch err := json.Unmarshal(body, &outer); {
	case len(outer.Error) > 0 && string(outer.Error) != "null":
		body = outer.Error
	case err == nil && len(outer.Errors) > 0:
		body = outer.Errors[0]
	}
	var fields struct {
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Status  json.RawMessage `json:"status"`
	}
	if json.Unmarshal(body, &fields) != nil {
		return Complaint{Message: plain(body)}
	}
	c := Complaint{Message: plain(fields.Message), Type: plain(fields.Type), Code: plain(fields.Code), Status: plain(fields.Status)}
	if c.Message == "" {
		c.Message = detailWords(fields.Detail)
	}
	return c
}

// detailWords is the text of a "detail": a text, or a list of faults of the request, as FastAPI has it.
func detailWords(detail json.RawMessage) string {
	var list []struct {
		Msg string `json:"msg"`
		Loc []any  `json:"loc"`
	}
	if json.Unmarshal(detail, &list) != nil {
		return plain(detail)
	}
	var texts []string
	for _, problem := range list {
		if problem.Msg == "" {
			return plain(detail)
		}
		text := problem.Msg
		if len(problem.Loc) > 0 {
			text += fmt.Sprintf(" (at %s)", strings.Trim(strings.ReplaceAll(fmt.Sprint(problem.Loc), " ", "."), "[]"))
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// IsComplaint reports whether an event of a stream is a complaint. A "detail" or "errors" counts only without
// parts of an answer beside it, and a "message" only alone or with a code, since servers also report their
// state.
func IsComplaint(data []byte) bool {
	if !slices.ContainsFunc(complaintKeys, func(key []byte) bool { return bytes.Contains(data, key) }) {
		return false
	}
	var event map[string]json.RawMessage
	if json.Unmarshal(data, &event) != nil {
		return false
	}
	if marked(event) {
		return true
	}
	for _, key := range []string{"type", "choices", "candidates", "output", "content", "delta", "response", "usage", "usageMetadata"} {
		if _, there := event[key]; there {
			return false
		}
	}
	return filled(event["errors"]) || filled(event["detail"]) || filled(event["message"]) && (filled(event["code"]) || len(event) == 1)
}

// complaintKeys are the keys of which a complaint has at least one.
var complaintKeys = [][]byte{[]byte(`"error"`), []byte(`"errors"`), []byte(`"detail"`), []byte(`"message"`)}

// IsMarkedError reports whether a value has the form of an error.
func IsMarkedError(data []byte) bool {
	var event map[string]json.RawMessage
	return json.Unmarshal(data, &event) == nil && marked(event)
}

func marked(event map[string]json.RawMessage) bool {
	return plain(event["type"]) == "error" || plain(event["object"]) == "error" || filled(event["error"])
}

// filled reports whether a field of a complaint has content.
func filled(value json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", `""`, "[]", "{}"}, string(value))
}

// plain is a JSON string's text, or the JSON of anything else.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(bytes.TrimSpace(value))
}

// HTTP is the status of HTTP that the complaint names, else 0.
func (c Complaint) HTTP() int {
	for _, name := range []string{c.Code, c.Status} {
		if status, err := strconv.Atoi(name); err == nil && status >= http.StatusBadRequest && status <= 599 {
			return status
		}
	}
	return 0
}

var (
	elsewhere = lazy.Regexp(`(?i)<html|<!doctype|\burl\b|page not found|endpoint or method|no route|cannot (get|post)|resource not found`)
	ofModel   = lazy.Regexp(`(?i)model|deployment|no endpoints found`)
)

// ClassOfMissing is the class of a 404 or 405: the model is unknown, or the address is wrong.
func ClassOfMissing(words, model string) Class {
	if elsewhere().MatchString(words) {
		return ClassAddress
	}
	if ofModel().MatchString(words) || model != "" && strings.Contains(words, model) {
		return ClassModel
	}
	return ClassAddress
}
