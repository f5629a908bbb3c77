// Package tablefile reads and writes tables as streams of Arrow record batches: Parquet, Arrow IPC files, Arrow IPC streams and CSV.
// It knows files, not masks.
//
// Memory is bounded by batches, never by the file. A file that is being written appears under its name only when it is complete. What
// cannot be read or written exactly is an error; no error text carries a cell's value.
//
// # CSV
//
// The rules follow RFC 4180, made strict so that nothing is guessed:
//
//   - Every column is nullable text unless ReadOptions.Schema names a type for it. Nothing is inferred from the cells.
//   - A bare empty cell is NULL. A quoted empty cell ("") is the empty string. The writer keeps both apart in the same way.
//   - A bare cell is taken byte for byte, spaces included. A quoted cell may hold delimiters, line ends and doubled quotes.
//   - A line end is LF or CRLF. The line end, byte order mark, delimiter, header text and the presence of a final line end are remembered in
//     a Style and reproduced when it is given to the writer. A file that mixes LF and CRLF is written with the first one it used.
//   - A quote inside a bare cell, text after a closing quote, a quote that is never closed, a carriage return outside quotes that no line feed
//     follows, and a record with more or fewer cells than the first are errors that name the row and the line.
//   - In a file of one column an empty line is a NULL row. In any other file it is a record with too few cells, hence an error.
//   - Without a header row the columns are called f0, f1, and so on. Names may repeat and may be empty.
//   - A column chosen by ReadOptions.Raw carries its cells as they stand in the file, quotes included. The CSV writer puts such cells back
//     unchanged, so they come out byte-equal.
//   - Bytes are not checked to be UTF-8 between CSV and CSV. Written to another format, text that is not UTF-8 is an error.
//
// Values that are not text are written as: true and false; decimal integers; the shortest decimal that reads back as the same float, NaN, +Inf,
// -Inf; decimals with all their fraction digits; 2006-01-02; 15:04:05 and 2006-01-02T15:04:05 with as many fraction digits as the unit has,
// and a Z where the column has a time zone (the value is then in UTC); durations as a count of their unit; binary as lower-case hex. Lists,
// structs, maps, unions and calendar intervals are refused, by column name, before anything is written. With a schema the reader accepts
// these same forms and refuses all others, by row and column.
//
// # Parquet
//
// All encodings are read. Refused, with an error that says so: encrypted files; the codecs LZO and LZ4 (with Hadoop's frames; LZ4_RAW is read);
// pages of more than 64 MiB compressed or 256 MiB decompressed; logical types that this version does not know; maps whose keys may be NULL; INT96
// timestamps that nanoseconds cannot count to; columns whose data lies in another file; empty data pages (version 2) marked as compressed with
// Snappy; files whose footer counts disagree with each other or with the rows found. Page checksums are
// verified when ReadOptions.VerifyChecksums says so.
//
// Not writable: run-end encoded columns, list views, unions, durations, calendar intervals, 32-bit and 64-bit decimals, structs without fields,
// views inside nested columns, fixed-size lists that are NULL. Views of text and binary are written as plain text and binary, seconds as
// milliseconds and date64 as date32; a value that this would change is an error.
//
// Key-value metadata is never copied, because it may quote values (pandas indexes, minima and maxima, bounding boxes); statistics are always
// computed anew. Of field metadata only Parquet field ids and Arrow extension types are kept.
//
// A Rewriter makes a Parquet file from another by replacing some columns and copying the chunks of the others as bytes. It reads the footer itself,
// so columns that the decoder does not know can be copied. Verify compares two such files, VerifyRows files of any formats.
//
// # Arrow IPC
//
// Not readable: Feather version 1, files that replace a dictionary, batches of more than 2,147,483,647 rows. Dictionaries that are replaced or
// grow are read from streams and written to them. An IPC file has one dictionary a column, so the writer collects the values of all batches
// and writes the batches when they are known; until then they wait in an unnamed temporary file. Dictionaries inside nested columns must not
// change in a file.
package tablefile
