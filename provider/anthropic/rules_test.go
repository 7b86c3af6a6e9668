package anthropic

import (
	"encoding/json"
	"errors"

	"jp/internal/testing/wirecheck"
)

// check is the error for a body that breaks rules of the API. A paused answer at the end may be continued.
func check(body []byte, paused bool) error {
	var able wirecheck.Capability
	if paused {
		var sent struct {
			Messages []struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			return err
		}
		able.Anthropic.Paused = sent.Messages[len(sent.Messages)-1].Content
	}
	var broken []error
	for _, v := range wirecheck.Anthropic(body, able) {
		broken = append(broken, v)
	}
	return errors.Join(broken...)
}
