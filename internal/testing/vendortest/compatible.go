package vendortest

import (
	"strings"

	"jp/internal/testing/wirecheck"
)

// A server that is compatible with Chat Completions, as jp names its dialect, and its demands on requests
// beyond OpenAI's.
type compatible struct {
	name      string
	reasoning string // the field that reasoning comes in
	dialect   wirecheck.ChatDialect
	keyHeader string // "": Authorization
	says      string // its words for a request that it refuses; %s is the mistake
}

func compatibles() []compatible {
	const local = `{"error":{"code":400,"message":"%s","type":"invalid_request_error"}}`
	return []compatible{
		{
			name: "kimi", reasoning: "reasoning_content",
			dialect: wirecheck.ChatDialect{MaxTokens: "max_tokens", NumberedIDs: true, TypeInBranches: true, ReasoningBack: wirecheck.ReasoningAll},
			says:    `{"error":{"message":"Invalid request: %s","type":"invalid_request_error"}}`,
		},
		{
			name: "deepseek", reasoning: "reasoning_content",
			dialect: wirecheck.ChatDialect{MaxTokens: "max_tokens", EmptyContent: true, ReasoningBack: wirecheck.ReasoningAll},
			says:    `{"error":{"message":"Failed to deserialize the JSON body into the target type: %s","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`,
		},
		{
			name: "glm", reasoning: "reasoning_content", dialect: wirecheck.ChatDialect{MaxTokens: "max_tokens", ReasoningBack: wirecheck.ReasoningAllowed},
			says: `{"error":{"code":"1214","message":"The messages parameter is illegal. Please check the documentation. %s"}}`,
		},
		{
			name: "mistral", dialect: wirecheck.ChatDialect{MaxTokens: "max_tokens", AlnumIDs: true, UserAfterTool: wirecheck.UserFolded},
			says: `{"object":"error","message":"%s","type":"invalid_request_message_order","param":null,"code":"3230"}`,
		},
		{
			name: "azure", dialect: wirecheck.ChatDialect{}, keyHeader: "Api-Key",
			says: `{"error":{"message":"%s","type":"invalid_request_error","param":"messages","code":null}}`,
		},
		{name: "lmstudio", reasoning: "reasoning_content", dialect: wirecheck.ChatDialect{MaxTokens: "max_tokens", ManyTools: true, ReasoningBack: wirecheck.ReasoningAllowed}, says: `{"error":"%s"}`},
		{
			name: "llamacpp", reasoning: "reasoning_content", says: local,
			dialect: wirecheck.ChatDialect{MaxTokens: "max_tokens", ManyTools: true, ParallelToolCalls: true, ReasoningBack: wirecheck.ReasoningAllowed},
		},
		{
			name: "vllm", reasoning: "reasoning_content", dialect: wirecheck.ChatDialect{MaxTokens: "max_tokens", ManyTools: true, ReasoningBack: wirecheck.ReasoningAllowed},
			says: `{"object":"error","message":"%s","type":"BadRequestError","param":null,"code":400}`,
		},
		{
			name: "litellm", reasoning: "reasoning_content", dialect: wirecheck.ChatDialect{MaxTokens: "max_tokens", ReasoningBack: wirecheck.ReasoningAllowed},
			says: `{"error":{"message":"litellm.BadRequestError: OpenAIException - %s","type":null,"param":null,"code":"400"}}`,
		},
	}
}

// Compatible are servers that speak Chat Completions in a way of their own, besides
// the [Vendors]. Each is a provider of jp by that name.
func Compatible() []Vendor {
	var all []Vendor
	for _, c := range compatibles() {
		v := Vendor{
			Name: c.name, Model: "m-" + c.name, base: "/" + c.name + "/v1", asks: "/chat/completions", lists: "/models", dialect: c.name,
			keyEnv: strings.ToUpper(c.name) + "_TEST_KEY", auth: "Authorization", prefix: "Bearer ", speech: chat{compatible: &c},
		}
		if c.keyHeader != "" {
			v.auth, v.prefix = c.keyHeader, ""
		}
		all = append(all, v)
	}
	return all
}
