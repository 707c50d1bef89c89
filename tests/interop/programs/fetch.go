// METHOD URL [FILE]: the answer's body to standard output; 1 and the status where that is 400 or above.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	var body io.Reader
	if len(os.Args) > 3 {
		file, err := os.Open(os.Args[3])
		if err != nil {
			panic(err)
		}
		body = file
	}
	request, err := http.NewRequest(os.Args[1], os.Args[2], body)
	if err != nil {
		panic(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if answer.StatusCode >= 400 {
		fmt.Fprintln(os.Stderr, answer.Status)
		os.Exit(1)
	}
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
