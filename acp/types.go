package acp

import "encoding/json"

// Types of the protocol, as far as jp says or reads them. Their names and fields are those of its
// schema for version 1.

// protocolVersion is the one that jp speaks.
const protocolVersion = 1

type (
	meta map[string]any

	implementation struct {
		Name    string `json:"name"`
		Title   string `json:"title,omitempty"`
		Version string `json:"version"`
	}

	initializeRequest struct {
		ProtocolVersion    int `json:"protocolVersion"`
		ClientCapabilities any `json:"clientCapabilities"` // see [server.can]
	}
	initializeResponse struct {
		ProtocolVersion   int               `json:"protocolVersion"`
		AgentCapabilities agentCapabilities `json:"agentCapabilities"`
		AuthMethods       []authMethod      `json:"authMethods"`
		AgentInfo         implementation    `json:"agentInfo"`
	}
	agentCapabilities struct {
		LoadSession         bool               `json:"loadSession"`
		PromptCapabilities  promptCapabilities `json:"promptCapabilities"`
		MCPCapabilities     mcpCapabilities    `json:"mcpCapabilities"`
		SessionCapabilities map[string]any     `json:"sessionCapabilities"`
		Meta                meta               `json:"_meta,omitempty"`
	}
	promptCapabilities struct {
		Image           bool `json:"image"`
		Audio           bool `json:"audio"`
		EmbeddedContext bool `json:"embeddedContext"`
	}
	mcpCapabilities struct {
		HTTP bool `json:"http"`
		SSE  bool `json:"sse"`
	}
	authMethod struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
	authenticateRequest struct {
		MethodID string `json:"methodId"`
	}

	// openRequest is of session/new, session/load, session/resume and _jp/fork.
	openRequest struct {
		SessionID  string      `json:"sessionId"`
		CWD        string      `json:"cwd"`
		MCPServers []mcpServer `json:"mcpServers"`
		Event      *int        `json:"event"` // of _jp/fork: the newest event that the fork has
	}
	mcpServer struct {
		Type    string      `json:"type"` // "" for one that is a program
		Name    string      `json:"name"`
		Command string      `json:"command"`
		Args    []string    `json:"args"`
		Env     []nameValue `json:"env"`
		URL     string      `json:"url"`
		Headers []nameValue `json:"headers"`
	}
	nameValue struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	// opened answers an openRequest.
	opened struct {
		SessionID     string         `json:"sessionId,omitempty"`
		Modes         *modeState     `json:"modes,omitempty"`
		ConfigOptions []configOption `json:"configOptions,omitempty"`
	}
	modeState struct {
		CurrentModeID  string `json:"currentModeId"`
		AvailableModes []mode `json:"availableModes"`
	}
	mode struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
	configOption struct {
		ID           string         `json:"id"`
		Name         string         `json:"name"`
		Description  string         `json:"description,omitempty"`
		Category     string         `json:"category,omitempty"`
		Type         string         `json:"type"`
		CurrentValue any            `json:"currentValue"`
		Options      []configChoice `json:"options,omitempty"`
	}
	configChoice struct {
		Value string `json:"value"`
		Name  string `json:"name"`
	}
	setModeRequest struct {
		SessionID string `json:"sessionId"`
		ModeID    string `json:"modeId"`
	}
	setConfigRequest struct {
		SessionID string          `json:"sessionId"`
		ConfigID  string          `json:"configId"`
		Value     json.RawMessage `json:"value"`
	}
	setConfigResponse struct {
		ConfigOptions []configOption `json:"configOptions"`
	}
	sessionRequest struct {
		SessionID string `json:"sessionId"`
	}
	listRequest struct {
		CWD    string `json:"cwd"`
		Cursor string `json:"cursor"`
	}
	listResponse struct {
		Sessions   []sessionInfo `json:"sessions"`
		NextCursor string        `json:"nextCursor,omitempty"`
	}
	sessionInfo struct {
		SessionID string `json:"sessionId"`
		CWD       string `json:"cwd"`
		Title     string `json:"title,omitempty"`
		UpdatedAt string `json:"updatedAt,omitempty"`
	}

	promptRequest struct {
		SessionID string         `json:"sessionId"`
		Prompt    []contentBlock `json:"prompt"`
	}
	promptResponse struct {
		StopReason string `json:"stopReason"`
	}
	contentBlock struct {
		Type     string           `json:"type"`
		Text     string           `json:"text,omitempty"`
		Data     string           `json:"data,omitempty"`
		MimeType string           `json:"mimeType,omitempty"`
		URI      string           `json:"uri,omitempty"`
		Name     string           `json:"name,omitempty"`
		Resource *resourceContent `json:"resource,omitempty"`
	}
	resourceContent struct {
		URI      string `json:"uri"`
		MimeType string `json:"mimeType,omitempty"`
		Text     string `json:"text,omitempty"`
		Blob     string `json:"blob,omitempty"`
	}

	notification struct {
		SessionID string `json:"sessionId"`
		Update    any    `json:"update"`
	}
	chunk struct {
		Kind      string       `json:"sessionUpdate"`
		Content   contentBlock `json:"content"`
		MessageID string       `json:"messageId,omitempty"`
		Meta      meta         `json:"_meta,omitempty"`
	}
	toolCall struct {
		Kind       string            `json:"sessionUpdate,omitempty"` // "" in a request for permission
		ToolCallID string            `json:"toolCallId"`
		Title      string            `json:"title,omitempty"`
		Name       string            `json:"name,omitempty"`
		ToolKind   string            `json:"kind,omitempty"`
		Status     string            `json:"status,omitempty"`
		Content    []toolCallContent `json:"content,omitempty"`
		Locations  []location        `json:"locations,omitempty"`
		RawInput   json.RawMessage   `json:"rawInput,omitempty"`
		Meta       meta              `json:"_meta,omitempty"`
	}
	toolCallContent struct {
		Type    string        `json:"type"` // "content" or "diff"
		Content *contentBlock `json:"content,omitempty"`
		Path    string        `json:"path,omitempty"`
		OldText *string       `json:"oldText,omitempty"`
		NewText *string       `json:"newText,omitempty"`
	}
	location struct {
		Path string `json:"path"`
		Line int    `json:"line,omitempty"`
	}
	planUpdate struct {
		Kind    string      `json:"sessionUpdate"`
		Entries []planEntry `json:"entries"`
	}
	planEntry struct {
		Content  string `json:"content"`
		Priority string `json:"priority"`
		Status   string `json:"status"`
	}
	usageUpdate struct {
		Kind string `json:"sessionUpdate"`
		Used int    `json:"used"`
		Size int    `json:"size"`
		Cost *cost  `json:"cost,omitempty"`
	}
	cost struct {
		Amount   json.Number `json:"amount"`
		Currency string      `json:"currency"`
	}
	infoUpdate struct {
		Kind      string `json:"sessionUpdate"`
		Title     string `json:"title,omitempty"`
		UpdatedAt string `json:"updatedAt,omitempty"`
	}
	modeUpdate struct {
		Kind          string `json:"sessionUpdate"`
		CurrentModeID string `json:"currentModeId"`
	}
	commandsUpdate struct {
		Kind     string    `json:"sessionUpdate"`
		Commands []command `json:"availableCommands"`
	}
	command struct {
		Name        string        `json:"name"`
		Description string        `json:"description"`
		Input       *commandInput `json:"input,omitempty"`
	}
	commandInput struct {
		Hint string `json:"hint"`
	}
	compactionUpdate struct {
		Kind         string         `json:"sessionUpdate"`
		CompactionID string         `json:"compactionId"`
		Status       string         `json:"status"`
		Summary      []contentBlock `json:"summary,omitempty"`
	}
	noticeUpdate struct {
		Kind     string `json:"sessionUpdate"`
		Severity string `json:"severity"`
		Title    string `json:"title"`
	}

	permissionRequest struct {
		SessionID string             `json:"sessionId"`
		ToolCall  toolCall           `json:"toolCall"`
		Options   []permissionOption `json:"options"`
	}
	permissionOption struct {
		OptionID string `json:"optionId"`
		Name     string `json:"name"`
		Kind     string `json:"kind"`
	}
	permissionResponse struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	elicitationRequest struct {
		SessionID       string         `json:"sessionId"`
		ToolCallID      string         `json:"toolCallId,omitempty"`
		Mode            string         `json:"mode"`
		Message         string         `json:"message"`
		RequestedSchema map[string]any `json:"requestedSchema"`
	}
	elicitationResponse struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	readFileRequest struct {
		SessionID string `json:"sessionId"`
		Path      string `json:"path"`
	}
	readFileResponse struct {
		Content string `json:"content"`
	}
)
