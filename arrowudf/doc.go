// Package arrowudf runs mask expressions over Arrow arrays (arrow v17) and
// offers them as functions of an arrow compute registry.
//
// Compile checks an expression against a column type once; the Func it returns
// is read-only and safe for any number of goroutines:
//
//	f, err := arrowudf.Compile("mask_show_last_n({col}, 4)", arrow.BinaryTypes.String, arrowudf.Options{})
//	out, err := f.Call(ctx, column) // out.Release() when done
//
// Every layout of text and binary is taken: String, LargeString, StringView,
// Binary, LargeBinary, BinaryView, FixedSizeBinary, each also dictionary or
// run-end encoded, sliced anywhere, chunked, of length 0, and behind an
// extension type. The result has the layout of the input: text from a
// LargeString column is LargeString, from a StringView column StringView, from
// a dictionary column a dictionary of the same index type. A digest of binary
// input is text of the matching layout; of FixedSizeBinary it is String. The
// result of an extension column is that of its storage.
//
// Outputs never alias an input and hold nothing of it but the answer: a
// dictionary keeps only values that a row refers to, equal masked values become
// one entry, runs with equal masked values become one run (otherwise indices
// and run ends would still tell which clear values were equal), a slot under
// NULL is zero or empty.
//
// Results are fresh memory of Options.Mem. A Recycler there uses the memory of
// released results again, which is worth it wherever large batches follow each
// other.
//
// NewRegistry and Register put the same functions in a compute registry;
// nothing is registered by importing the package.
package arrowudf
