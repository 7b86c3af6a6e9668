package openai

import (
	"bytes"

	"jp/provider"
)

// Common JSON of the requests of all tests, as a provider keeps it.
var (
	sentInChat    provider.EncodedLists[chatMessage]
	sentResponses provider.EncodedLists[inputItem]
)

// ChatBody is the body of a request, without a server to read it. It is independent of earlier requests.
func ChatBody(r *provider.Request, o Options) []byte {
	whole, err := chatParams(r, o).MarshalJSON()
	return equal(whole, err, func() (provider.EncodedBody, error) { return chatBody(chatParams(r, o), &sentInChat) })
}

// ResponsesBody is ChatBody for Responses.
func ResponsesBody(r *provider.Request, o Options) []byte {
	whole, err := responsesParams(r, o).MarshalJSON()
	return equal(whole, err, func() (provider.EncodedBody, error) { return responsesBody(responsesParams(r, o), &sentResponses) })
}

// equal makes the body again, with the JSON of earlier requests, and with its own.
func equal(whole []byte, err error, again func() (provider.EncodedBody, error)) []byte {
	for range 2 {
		if err != nil {
			panic(err)
		}
		var body provider.EncodedBody
		if body, err = again(); err == nil && !bytes.Equal(whole, body.Bytes()) {
			panic("not the same:\n" + string(whole) + "\n" + string(body.Bytes()))
		}
	}
	return whole
}
