import io.grpc.*;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.*;
import java.io.*;
import java.util.*;
import java.util.concurrent.*;

/** Makes gRPC calls of all kinds with grpc-java: WithGrpcJava TARGET plain|tls CHECKS [SECONDS]. See with_grpcio.py. */
public class WithGrpcJava {
  static final int LARGE = 4 * 1024 * 1024;
  static ManagedChannel channel;

  static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
    public InputStream stream(byte[] value) { return new ByteArrayInputStream(value); }
    public byte[] parse(InputStream stream) {
      try { return stream.readAllBytes(); } catch (IOException error) { throw new UncheckedIOException(error); }
    }
  };

  static MethodDescriptor<byte[], byte[]> method(String name) {
    return MethodDescriptor.newBuilder(BYTES, BYTES).setType(MethodDescriptor.MethodType.BIDI_STREAMING).setFullMethodName("probe.Probe/" + name).build();
  }

  /** One call: its messages, its metadata and its status. */
  static class Got extends ClientCall.Listener<byte[]> {
    final List<byte[]> messages = new CopyOnWriteArrayList<>();
    final CountDownLatch first = new CountDownLatch(1);
    final CompletableFuture<Status> status = new CompletableFuture<>();
    Metadata head, end;
    ClientCall<byte[], byte[]> call;

    public void onHeaders(Metadata metadata) { head = metadata; }
    public void onMessage(byte[] data) { messages.add(data); call.request(1); first.countDown(); }
    public void onClose(Status ended, Metadata metadata) { end = metadata; status.complete(ended); }

    Got ok() throws Exception {
      check(status.get().isOk(), status.get());
      return this;
    }
    String text() {
      StringJoiner joined = new StringJoiner(",");
      for (byte[] data : messages) joined.add(new String(data));
      return joined.toString();
    }
  }

  static Got ask(String name, Metadata metadata, CallOptions options, byte[]... messages) {
    Got got = new Got();
    got.call = channel.newCall(method(name), options);
    got.call.start(got, metadata);
    got.call.request(1);
    for (byte[] data : messages) got.call.sendMessage(data);
    got.call.halfClose();
    return got;
  }

  static Got ask(String name, byte[]... messages) { return ask(name, new Metadata(), CallOptions.DEFAULT, messages); }

  static void check(boolean is, Object what) { if (!is) throw new AssertionError(String.valueOf(what)); }

  static Metadata.Key<String> text(String name) { return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER); }

  static void calls() throws Exception {
    byte[] one = "one".getBytes(), two = "two".getBytes(), three = "three".getBytes();
    Map<String, String> expected = Map.of("Unary", "one", "ClientStream", "onetwothree", "ServerStream", "one,one,one", "Bidi", "one,two,three");
    for (int number = 0; number < 5; number++) {
      for (String name : expected.keySet()) {
        Metadata metadata = new Metadata();
        metadata.put(text("x-call"), name + number + ProcessHandle.current().pid());
        metadata.put(text("x-fail"), "2");
        boolean single = name.equals("Unary") || name.equals("ServerStream");
        Got got = single ? ask(name, metadata, CallOptions.DEFAULT, one) : ask(name, metadata, CallOptions.DEFAULT, one, two, three);
        check(got.ok().text().equals(expected.get(name)), name + " " + got.text());
      }
    }
  }

  static int cancelled() throws Exception { return Integer.parseInt(ask("Cancelled", new byte[0]).ok().text()); }

  static void rest() throws Exception {
    byte[] binary = new byte[256];
    for (int at = 0; at < 256; at++) binary[at] = (byte) at;
    Metadata metadata = new Metadata();
    metadata.put(Metadata.Key.of("x-probe-bin", Metadata.BINARY_BYTE_MARSHALLER), binary);
    Got got = ask("Unary", metadata, CallOptions.DEFAULT, "one".getBytes()).ok();
    check(Arrays.equals(got.head.get(Metadata.Key.of("x-probe-bin", Metadata.BINARY_BYTE_MARSHALLER)), binary), got.head);
    check(Arrays.equals(got.end.get(Metadata.Key.of("x-trailer-bin", Metadata.BINARY_BYTE_MARSHALLER)), binary), got.end);
    byte[] large = new byte[LARGE];
    new Random(1).nextBytes(large);
    check(Arrays.equals(ask("Unary", large).ok().messages.get(0), large), "4 MiB");
    int before = cancelled();
    Status late = ask("Slow", new Metadata(), CallOptions.DEFAULT.withDeadlineAfter(500, TimeUnit.MILLISECONDS), "x".getBytes()).status.get();
    check(late.getCode() == Status.Code.DEADLINE_EXCEEDED, late);
    Got slow = ask("Slow", "x".getBytes());
    slow.first.await();
    slow.call.cancel("enough", null);
    check(slow.status.get().getCode() == Status.Code.CANCELLED, slow.status.get());
    while (cancelled() < before + 2);
  }

  static void pings(int seconds) throws Exception {
    Got slow = ask("Slow", "x".getBytes());
    slow.first.await();
    Thread.sleep(1000L * seconds);
    check(ask("Unary", "one".getBytes()).ok().text().equals("one") && !slow.status.isDone(), slow.status);
    slow.call.cancel("enough", null);
  }

  public static void main(String[] words) throws Exception {
    NettyChannelBuilder builder = NettyChannelBuilder.forTarget(words[0]).maxInboundMessageSize(2 * LARGE).disableRetry()
        .keepAliveTime(10, TimeUnit.SECONDS).keepAliveWithoutCalls(true);
    channel = (words[1].equals("tls") ? builder.useTransportSecurity() : builder.usePlaintext()).build();
    for (String name : words[2].split(",")) {
      if (name.equals("calls")) calls();
      if (name.equals("rest")) rest();
      if (name.equals("pings")) pings(Integer.parseInt(words[3]));
    }
    System.out.println("ok");
    channel.shutdownNow();
  }
}
