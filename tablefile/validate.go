package tablefile

import "github.com/apache/arrow-go/v18/arrow"

func validate(sc *arrow.Schema, batch arrow.RecordBatch) error { return nil }
