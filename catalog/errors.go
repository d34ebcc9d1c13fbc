package catalog

import (
	"errors"
	"fmt"
)

// ErrLimit is wrapped by errors that say which of the Limits was exceeded.
var ErrLimit = errors.New("limit exceeded")

// Error says where and why a text is not a File-Based Catalog. Use errors.As to get the parts.
type Error struct {
	// File is the path below the root that was read, "" when a single stream was.
	File string
	// Offset is the number of bytes before the fault, counted from the start of the file after decompression. For YAML
	// it is the start of the document.
	Offset int64
	// Err is the reason.
	Err error
}

func (e *Error) Error() string {
	if e.File == "" {
		return fmt.Sprintf("byte %d: %v", e.Offset, e.Err)
	}
	return fmt.Sprintf("%s: byte %d: %v", e.File, e.Offset, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
