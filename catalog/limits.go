package catalog

// Limits bound what a reader takes from a source that it cannot trust. A zero field means the default.
type Limits struct {
	// BlobBytes is the size of the largest single FBC object. Real ones reach 1.05 MB. Default 8 MiB.
	BlobBytes int64
	// TotalBytes is the size of the whole catalog after decompression. Default 2 GiB.
	TotalBytes int64
	// Blobs is the number of FBC objects, and of YAML documents, empty ones included. Default 2,000,000.
	Blobs int
	// IndexBytes is about how much text the index may keep, in bytes. Default 512 MiB.
	IndexBytes int64
	// Files is the number of files of a directory. Default 100,000.
	Files int
}

func (l Limits) withDefaults() Limits {
	def := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&l.BlobBytes, 8<<20)
	def(&l.TotalBytes, 2<<30)
	def(&l.IndexBytes, 512<<20)
	if l.Blobs <= 0 {
		l.Blobs = 2_000_000
	}
	if l.Files <= 0 {
		l.Files = 100_000
	}
	return l
}
