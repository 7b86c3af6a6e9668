package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"jp/conversation"
)

// parameters is a tool's schema in the API's form: an object with the type "object".
func parameters(schema json.RawMessage) json.RawMessage {
	fields, err := conversation.ParseObject(schema)
	if err != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if value(fields, "type") == nil {
		fields = append([]conversation.Field{{Key: "type", Raw: []byte(`"object"`)}}, fields...)
	}
	return object(fields)
}

// formatOf asks for an answer that satisfies the schema.
func formatOf(schema json.RawMessage) sdk.JSONOutputFormatParam {
	return param.Override[sdk.JSONOutputFormatParam](json.RawMessage(object([]conversation.Field{
		{Key: "type", Raw: []byte(`"json_schema"`)},
		{Key: "schema", Raw: closed(schema)},
	})))
}

// closed forbids other keys in every object of a schema that leaves them open, since the API requires that.
// The order of the keys stays, since the model writes in it.
func closed(schema []byte) []byte {
	fields, err := conversation.ParseObject(schema)
	if err != nil {
		return schema
	}
	for i, f := range fields {
		switch f.Key {
		case "properties", "$defs", "definitions":
			fields[i].Raw = eachValue(f.Raw)
		case "items":
			fields[i].Raw = closed(f.Raw)
		case "anyOf", "allOf", "oneOf":
			fields[i].Raw = eachElement(f.Raw)
		}
	}
	open := value(fields, "additionalProperties") == nil
	if open && (string(value(fields, "type")) == `"object"` || value(fields, "properties") != nil) {
		fields = append(fields, conversation.Field{Key: "additionalProperties", Raw: []byte("false")})
	}
	return object(fields)
}

func eachValue(schemas []byte) []byte {
	fields, err := conversation.ParseObject(schemas)
	if err != nil {
		return schemas
	}
	for i, f := range fields {
		fields[i].Raw = closed(f.Raw)
	}
	return object(fields)
}

func eachElement(schemas []byte) []byte {
	var elements []json.RawMessage
	if json.Unmarshal(schemas, &elements) != nil {
		return schemas
	}
	all := make([][]byte, len(elements))
	for i, e := range elements {
		all[i] = closed(e)
	}
	return array(all)
}

// value is the value of a key, nil if there is none.
func value(fields []conversation.Field, key string) []byte {
	for _, f := range fields {
		if f.Key == key {
			return f.Raw
		}
	}
	return nil
}

// object writes fields as one JSON object, in their order.
func object(fields []conversation.Field) []byte {
	members := make([][]byte, len(fields))
	for i, f := range fields {
		members[i] = slices.Concat(quote(f.Key), []byte(":"), f.Raw)
	}
	return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}"))
}

func array(elements [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(elements, []byte(",")), []byte("]"))
}

// quote writes text as a JSON string, without the escapes that HTML needs.
func quote(text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	// A string always has an encoding.
	_ = encoder.Encode(text)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
