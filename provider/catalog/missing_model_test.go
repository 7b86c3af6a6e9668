package catalog_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
	"jp/provider/catalog"
)

// TestModelsThatAreNotThere tells a missing model from other refusals, by the bodies of vendors.
func TestModelsThatAreNotThere(t *testing.T) {
	t.Parallel()
	const gone = provider.ClassModel
	for name, tc := range map[string]struct {
		dialect string
		status  int
		body    string
		want    provider.Class
	}{
		"anthropic":                   {"anthropic", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-3-opus-20240229"},"request_id":"req_1"}`, gone},
		"anthropic, nothing there":    {"anthropic", 404, `{"type":"error","error":{"type":"not_found_error","message":"Not found"}}`, provider.ClassAddress},
		"anthropic, a parameter":      {"anthropic", 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"`temperature` is deprecated for this model.\"}}", provider.ClassInvalid},
		"anthropic, max_tokens":       {"anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku"}}`, provider.ClassInvalid},
		"minimax":                     {"anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"invalid params, unknown model 'm9' (2013)"}}`, gone},
		"bedrock":                     {"anthropic", 400, `{"message":"The provided model identifier is invalid."}`, gone},
		"bedrock, end of life":        {"anthropic", 404, `{"message":"This model version has reached the end of its life. Please refer to the AWS documentation for more details."}`, gone},
		"bedrock, no access":          {"anthropic", 403, `{"message":"You don't have access to the model with the specified model ID."}`, gone},
		"openai":                      {"openai-responses", 404, "{\"error\":{\"message\":\"The model `gpt-4-0314` has been deprecated, learn more here: https://platform.openai.com/docs/deprecations\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"model_not_found\"}}", gone},
		"openai, 400":                 {"openai-responses", 400, `{"error":{"message":"The requested model 'gpt-x' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}}`, gone},
		"openai, no access":           {"openai-responses", 403, "{\"error\":{\"message\":\"Project `proj_1` does not have access to model `gpt-6`\",\"type\":\"invalid_request_error\",\"code\":\"model_not_found\"}}", gone},
		"openai, gone":                {"openai-responses", 410, `{"error":{"message":"The model gpt-4-32k has been retired.","type":"invalid_request_error","code":null}}`, gone},
		"openai, a parameter":         {"openai-responses", 400, `{"error":{"message":"Unsupported parameter: 'temperature' is not supported with this model.","type":"invalid_request_error","param":"temperature","code":null}}`, provider.ClassInvalid},
		"openai, an old parameter":    {"openai-chat", 400, `{"error":{"message":"The parameter functions has been deprecated for this model in favor of tools.","type":"invalid_request_error"}}`, provider.ClassInvalid},
		"openai, wrong address":       {"openai-chat", 404, `{"error":{"message":"Invalid URL (POST /chat/completions)","type":"invalid_request_error"}}`, provider.ClassAddress},
		"google":                      {"google", 404, `{"error":{"code":404,"message":"models/gemini-1.0-pro is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.","status":"NOT_FOUND"}}`, gone},
		"google, new users":           {"google", 404, `{"error":{"code":404,"message":"This model models/gemini-2.5-pro is no longer available to new users. Please update your code to use a newer model for the latest features and improvements.","status":"NOT_FOUND"}}`, gone},
		"google, an argument":         {"google", 400, `{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}`, provider.ClassInvalid},
		"google, a page":              {"google", 404, `<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>`, provider.ClassAddress},
		"vertex":                      {"openai-chat", 404, "[{\"error\":{\"code\":404,\"message\":\"Publisher Model `projects/p/locations/global/publishers/google/models/gemini-x` was not found or your project does not have access to it. Please ensure you are using a valid model version.\",\"status\":\"NOT_FOUND\"}}]", gone},
		"openrouter":                  {"openrouter", 400, `{"error":{"message":"anthropic/claude-x is not a valid model ID","code":400},"user_id":"user_1"}`, gone},
		"openrouter, no endpoints":    {"openrouter", 404, `{"error":{"message":"No endpoints found for nobody/nope.","code":404}}`, gone},
		"mistral":                     {"mistral", 400, `{"object":"error","message":"Invalid model: mistral-x","type":"invalid_model","param":null,"code":"1500"}`, gone},
		"mistral, the order":          {"mistral", 400, `{"object":"error","message":"Unexpected role 'user' after role 'tool'","type":"invalid_request_message_order","code":"3230"}`, provider.ClassInvalid},
		"deepseek":                    {"deepseek", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, gone},
		"ollama":                      {"ollama", 404, `{"error":{"message":"model \"qwen9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, gone},
		"ollama, tools":               {"ollama", 400, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error","param":null,"code":null}}`, provider.ClassInvalid},
		"ollama, wrong address":       {"ollama", 404, `404 page not found`, provider.ClassAddress},
		"vllm":                        {"vllm", 404, "{\"object\":\"error\",\"message\":\"The model `x` does not exist.\",\"type\":\"NotFoundError\",\"param\":null,\"code\":404}", gone},
		"vllm, wrong address":         {"vllm", 404, `{"detail":"Not Found"}`, provider.ClassAddress},
		"groq":                        {"openai-chat", 400, "{\"error\":{\"message\":\"The model `mixtral-8x7b-32768` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations\",\"type\":\"invalid_request_error\",\"code\":\"model_decommissioned\"}}", gone},
		"xai":                         {"openai-chat", 404, `{"code":"Some requested entity was not found","error":"The model grok-1 does not exist or your team 1 does not have access to it."}`, gone},
		"kimi":                        {"kimi", 404, `{"error":{"message":"Not found the model k9 or Permission denied","type":"resource_not_found_error"}}`, gone},
		"glm":                         {"glm", 400, `{"error":{"code":"1211","message":"Unknown Model, please check the model code."}}`, gone},
		"together":                    {"openai-chat", 404, `{"error":{"message":"Unable to access model x. Please visit https://api.together.ai/models to view the list of supported models.","type":"invalid_request_error","param":null,"code":"model_not_available"}}`, gone},
		"azure":                       {"azure", 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again."}}`, gone},
		"litellm":                     {"litellm", 400, "{\"error\":{\"message\":\"/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view available models for your key.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"400\"}}", gone},
		"litellm, no access":          {"litellm", 401, `{"error":{"message":"key not allowed to access model.","type":"key_model_access_denied","param":"model","code":"401"}}`, gone},
		"a gateway, wrong address":    {"openai-chat", 404, `{"message":"no Route matched with those values"}`, provider.ClassAddress},
		"a gateway, images":           {"openai-chat", 400, `{"error":{"message":"This model does not support image input","type":"invalid_request_error"}}`, provider.ClassInvalid},
		"a gateway, tools that ended": {"openai-chat", 400, `{"error":{"message":"Models of this kind: legacy tools are no longer supported"}}`, provider.ClassInvalid},
		"out of order":                {"openai-chat", 503, `{"error":{"message":"The model x is no longer available, try again"}}`, provider.ClassOverloaded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			defer s.Close()
			v, err := catalog.Find("t", catalog.Settings{BaseURL: s.URL, Dialect: tc.dialect})
			require.NoError(t, err)
			request := &provider.Request{Model: "m", Messages: []provider.Message{{Role: conversation.RoleUser, Blocks: []provider.Block{{Kind: provider.BlockText, Text: "Hello"}}}}}
			for _, err := range v.Open("a-key-of-t", catalog.Options{}).Stream(t.Context(), request) {
				var refused *provider.Error
				require.True(t, errors.As(err, &refused), err)
				require.Equal(t, tc.want, refused.Class, refused.Message)
			}
		})
	}
}
