package openai

import "jp/provider"

// ChatBody is the body of a request, without a server to read it.
func ChatBody(r *provider.Request, o Options) []byte {
	body, err := chatParams(r, o).MarshalJSON()
	if err != nil {
		panic(err)
	}
	return body
}

// ResponsesBody is the body of a request, without a server to read it.
func ResponsesBody(r *provider.Request, o Options) []byte {
	body, err := responsesParams(r, o).MarshalJSON()
	if err != nil {
		panic(err)
	}
	return body
}
