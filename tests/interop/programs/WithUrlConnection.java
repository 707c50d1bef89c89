import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;

/** METHOD URL [FILE]: the answer's body to standard output; 1 and the status where that is 400 or above. */
class WithUrlConnection {
  public static void main(String[] arguments) throws Exception {
    var connection = (HttpURLConnection) new URL(arguments[1]).openConnection();
    connection.setRequestMethod(arguments[0]);
    if (arguments.length > 2) {
      connection.setDoOutput(true);
      try (var out = connection.getOutputStream()) {
        Files.copy(Path.of(arguments[2]), out);
      }
    }
    if (connection.getResponseCode() >= 400) {
      System.err.println(connection.getResponseCode());
      System.exit(1);
    }
    connection.getInputStream().transferTo(System.out);
    System.out.flush();
  }
}
