import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;

/** METHOD URL [FILE]: the answer's body to standard output; 1 and the status where that is 400 or above. */
class WithHttpClient {
  public static void main(String[] arguments) throws Exception {
    var body = arguments.length > 2 ? HttpRequest.BodyPublishers.ofFile(Path.of(arguments[2])) : HttpRequest.BodyPublishers.noBody();
    var client = HttpClient.newBuilder().proxy(ProxySelector.getDefault()).build();
    var request = HttpRequest.newBuilder(URI.create(arguments[1])).method(arguments[0], body).build();
    var answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
    if (answer.statusCode() >= 400) {
      System.err.println(answer.statusCode());
      System.exit(1);
    }
    System.out.write(answer.body());
    System.out.flush();
  }
}
