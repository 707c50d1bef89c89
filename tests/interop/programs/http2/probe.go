// An HTTP/2 client and server of Go, in clear text (x/net/http2) and over TLS (net/http).
//
//	probe ask GET|POST|TRAILERS|MANY URL [FILE]   prints the body of the response, and its trailers. POST and TRAILERS send
//	                                              FILE. TRAILERS also sends the trailer x-sum. MANY sends 100 requests at once
//	probe serve CERTIFICATE KEY                   prints its port, and its port for TLS. Ends with its standard input
//
// PROXY: host:port of a proxy that is asked for a tunnel. CA: file of the trusted certificates.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func dial(_ context.Context, _, address string, _ *tls.Config) (net.Conn, error) {
	proxy := os.Getenv("PROXY")
	if proxy == "" {
		return net.Dial("tcp", address)
	}
	connection, err := net.Dial("tcp", proxy)
	must(err)
	fmt.Fprintf(connection, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", address, address)
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: "CONNECT"})
	must(err)
	if response.StatusCode != 200 {
		return nil, fmt.Errorf("CONNECT: %s", response.Status)
	}
	return connection, nil
}

func transport(target string) http.RoundTripper {
	if strings.HasPrefix(target, "http:") {
		return &http2.Transport{AllowHTTP: true, DialTLSContext: dial}
	}
	trusted := x509.NewCertPool()
	text, err := os.ReadFile(os.Getenv("CA"))
	must(err)
	trusted.AppendCertsFromPEM(text)
	made := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: trusted}}
	if proxy := os.Getenv("PROXY"); proxy != "" {
		made.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: proxy})
	}
	return made
}

// Reads 4 KiB at a time: the client then sends the most WINDOW_UPDATE frames.
func read(from io.Reader) []byte {
	var body []byte
	part := make([]byte, 4096)
	for {
		count, err := from.Read(part)
		body = append(body, part[:count]...)
		if err == io.EOF {
			return body
		}
		must(err)
	}
}

func ask(client *http.Client, what, target string, content []byte) []byte {
	request, err := http.NewRequest("GET", target, nil)
	if content != nil {
		request, err = http.NewRequest("POST", target, bytes.NewReader(content))
	}
	must(err)
	if what == "TRAILERS" {
		request.ContentLength = -1
		request.Trailer = http.Header{"X-Sum": {"7"}}
	}
	response, err := client.Do(request)
	must(err)
	body := read(response.Body)
	if response.ProtoMajor != 2 || response.StatusCode != 200 {
		must(fmt.Errorf("%s %s", response.Proto, response.Status))
	}
	if what == "TRAILERS" {
		body = []byte("x-trailer: " + response.Trailer.Get("X-Trailer"))
	}
	return body
}

func askAll(what, target string, content []byte) {
	client := &http.Client{Transport: transport(target)}
	count := 1
	if what == "MANY" {
		count = 100
	}
	bodies := make([][]byte, count)
	var all sync.WaitGroup
	for number := range bodies {
		all.Add(1)
		go func(number int) {
			defer all.Done()
			bodies[number] = ask(client, what, target, content)
		}(number)
	}
	all.Wait()
	os.Stdout.Write(bytes.Join(bodies, nil))
}

var seen sync.Map

func respond(out http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil || request.ProtoMajor != 2 {
		out.WriteHeader(400)
		return
	}
	if _, again := seen.LoadOrStore(request.URL.Path, true); !again && strings.HasPrefix(request.URL.Path, "/flaky") {
		out.WriteHeader(503)
		return
	}
	if request.Method == "GET" {
		body = []byte("hello\n")
	}
	out.Header().Set("Trailer", "X-Trailer")
	out.Write(body)
	out.Header().Set("X-Trailer", request.Trailer.Get("X-Sum"))
}

func serve(certificate, key string) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	secure, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	handler := http.HandlerFunc(respond)
	go http.Serve(plain, h2c.NewHandler(handler, &http2.Server{}))
	go http.ServeTLS(secure, handler, certificate, key)
	fmt.Println(plain.Addr().(*net.TCPAddr).Port, secure.Addr().(*net.TCPAddr).Port)
	io.Copy(io.Discard, os.Stdin)
}

func main() {
	if os.Args[1] == "serve" {
		serve(os.Args[2], os.Args[3])
		return
	}
	var content []byte
	if len(os.Args) > 4 {
		read, err := os.ReadFile(os.Args[4])
		must(err)
		content = read
	}
	askAll(os.Args[2], os.Args[3], content)
}
