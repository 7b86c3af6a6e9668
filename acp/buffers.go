package acp

import (
	"context"
	"path/filepath"
	"time"
)

// bufferTime is how long a client may take to return the text of a file.
const bufferTime = 5 * time.Second

// buffer reads a file as the client has it, with unsaved changes. It is false if the client does not answer.
// The path is of a file in the working tree, which was checked.
func (s *session) buffer(ctx context.Context, root, path string) (text string, known bool) {
	if !s.server.can("fs", "readTextFile") {
		return "", false
	}
	ctx, cancel := context.WithTimeout(ctx, bufferTime)
	defer cancel()
	var answer readFileResponse
	err := s.server.conn.call(ctx, "fs/read_text_file", readFileRequest{SessionID: string(s.id), Path: filepath.Join(root, path)}, &answer)
	return answer.Content, err == nil
}
