//go:build windows

package main

import _ "jp/internal/windows_needs_wsl" // jp runs on Windows through WSL only
