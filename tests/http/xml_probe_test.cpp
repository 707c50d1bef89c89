// Tests which XML bodies have an element with a matching text, and that nothing in them is expanded or
// guessed.
#include "proxy/http/body_rules/xml_probe.hpp"

#include <gtest/gtest.h>

#include <string>

namespace reprise::http {
namespace {

using std::string;

bool has(const string& text, const char* path = "Code", const char* equals = "SlowDown") {
  return XmlText(text).has_at(path, policy::TextRule{equals});
}

// Error bodies as S3, EC2, and AWS Query services such as SQS and STS send them.
const string of_s3 =
    R"(<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message><RequestId>1</RequestId></Error>)";
const string of_a_query =
    R"(<ErrorResponse xmlns="http://queue.amazonaws.com/doc/2012-11-05/">
  <Error><Type>Sender</Type><Code>SlowDown</Code><Message>x</Message><Detail/></Error>
  <RequestId>1</RequestId>
</ErrorResponse>)";
const string of_ec2 =
    R"(<?xml version="1.0"?><Response><Errors><Error><Code>SlowDown</Code><Message/></Error></Errors></Response>)";

TEST(XmlProbe, error_code_is_found_in_each_service_format) {
  for (const string& text : {of_s3, of_a_query, of_ec2}) {
    EXPECT_TRUE(has(text)) << text;
    EXPECT_TRUE(has(text, "Error.Code")) << text;
    EXPECT_FALSE(has(text, "Code", "Throttling")) << text;
    EXPECT_FALSE(has(text, "code")) << text;
    EXPECT_FALSE(has(text, "Cod")) << text;
    EXPECT_TRUE(XmlText(text).has_at("Code", {.matches = {"Slow*"}}));
    EXPECT_TRUE(XmlText(text).has_at("Code", {}));
  }
}

TEST(XmlProbe, xml_path_matches_only_elements_whose_full_path_ends_with_that_path) {
  EXPECT_TRUE(has(of_ec2, "Response.Errors.Error.Code"));
  EXPECT_TRUE(has(of_ec2, "Errors.Error.Code"));
  for (const char* path :
       {"Response.Code", "Errors.Code", "Code.Error", "X.Response.Errors.Error.Code", "Error"})
    EXPECT_FALSE(has(of_ec2, path)) << path;
  EXPECT_TRUE(has("<a><Code>x</Code><Error><Code>SlowDown</Code></Error></a>", "Error.Code"));
}

TEST(XmlProbe, first_matching_element_decides) {
  EXPECT_TRUE(has("<a><Code>SlowDown</Code><Code>x</Code></a>"));
  EXPECT_FALSE(has("<a><Code>x</Code><Code>SlowDown</Code></a>"));
  for (const string first : {"<Code/>", "<Code />", "<Code></Code>", "<Code> </Code>"})
    EXPECT_FALSE(has("<a>" + first + "<Code>SlowDown</Code></a>")) << first;
  EXPECT_TRUE(has("<a><Code>SlowDown</Code><b></a> and so on")) << "what follows is not read";
}

TEST(XmlProbe, text_includes_cdata_and_skips_comments_but_not_child_elements) {
  for (const string inside :
       {"SlowDown", " \r\n\tSlowDown\n", "<![CDATA[SlowDown]]>", "Slow<![CDATA[Down]]>", "Slow<!-- x -->Down",
        "<?x y?>SlowDown", "<!-- <Code>no</Code> -->SlowDown", "Slow<![CDATA[]]>Down"})
    EXPECT_TRUE(has("<Code>" + inside + "</Code>")) << inside;
  for (const string inside :
       {"<b/>SlowDown", "SlowDown<b/>", "<b>SlowDown</b>", "<![CDATA[<b>SlowDown</b>]]>", "Slow Down",
        "<!--SlowDown-->", "<?SlowDown?>", "<Code>SlowDown</Code>"})
    EXPECT_FALSE(has("<Code>" + inside + "</Code>")) << inside;
}

TEST(XmlProbe, entities_are_never_expanded) {
  EXPECT_FALSE(has("<Code>Slow&#68;own</Code>"));
  EXPECT_FALSE(has("<Code>&slow;</Code>"));
  EXPECT_TRUE(has("<Code>a&amp;b</Code>", "Code", "a&amp;b")) << "as it is written";
  EXPECT_FALSE(has("<!DOCTYPE a [<!ENTITY slow \"SlowDown\">]><a><Code>&slow;</Code></a>"));
  for (const string type : {"<!DOCTYPE a>", "<!DOCTYPE html PUBLIC \"x\" \"y\">", "<!doctype a>",
                            "<!ENTITY Code \"x\">", "<!DOCTYPE a [<!ELEMENT a ANY>]>"})
    EXPECT_FALSE(has(type + "<a><Code>SlowDown</Code></a>")) << type;
}

TEST(XmlProbe, markup_in_comments_cdata_and_attributes_is_not_an_element) {
  for (const string text :
       {"<a><!-- <Code>SlowDown</Code> --></a>", "<a><![CDATA[<Code>SlowDown</Code>]]></a>",
        "<a><?x <Code>SlowDown</Code>?></a>", "<a b=\"<Code>SlowDown</Code>\"></a>",
        "<a b='><Code>SlowDown</Code>'/>", "<a>&lt;Code>SlowDown</a>"})
    EXPECT_FALSE(has(text)) << text;
  EXPECT_TRUE(has("<!-- - -> <a> --><a b='>' c=\"'/>\" ><Code d=\"x\">SlowDown</Code ></a>"));
}

TEST(XmlProbe, namespace_prefixes_are_ignored) {
  EXPECT_TRUE(has("<s:Error xmlns:s=\"x\"><s:Code>SlowDown</s:Code></s:Error>", "Error.Code"));
  EXPECT_FALSE(has("<s:Code>SlowDown</t:Code>")) << "but an end has the name of its beginning";
  EXPECT_FALSE(has("<Code:x>SlowDown</Code:x>"));
}

TEST(XmlProbe, malformed_or_truncated_markup_has_no_elements) {
  for (const string text : {"",
                            " ",
                            "SlowDown",
                            "<",
                            "<>",
                            "< Code>SlowDown</Code>",
                            "<Code>SlowDown",
                            "<Code>SlowDown<",
                            "<Code",
                            "<Code>SlowDown</",
                            "<Code>SlowDown</Code",
                            "<Code>SlowDown</Cod>",
                            "<a><Code>SlowDown</a></Code>",
                            "</a><Code>SlowDown</Code>",
                            "<a></b><Code>SlowDown</Code>",
                            "x<Code>SlowDown</Code>",
                            "<a/><Code>SlowDown</Code>",
                            "<a/>x<Code>SlowDown</Code>",
                            "<![CDATA[x]]><Code>SlowDown</Code>",
                            "<![CDATA[]]><Code>SlowDown</Code>",
                            "<!-- <Code>SlowDown</Code>",
                            "<?x <Code>SlowDown</Code>",
                            "<a><![CDATA[ <Code>SlowDown</Code>",
                            "<a <Code>SlowDown</Code>",
                            "<a b=\"<Code>SlowDown</Code>",
                            "<!x><Code>SlowDown</Code>",
                            "{\"Code\":\"SlowDown\"}"})
    EXPECT_FALSE(has(text)) << text;
  EXPECT_TRUE(has("\xEF\xBB\xBF<Code>SlowDown</Code>")) << "a byte order mark";
  EXPECT_TRUE(has(" \n <Code>SlowDown</Code>")) << "S3 sends blanks while it copies";
}

TEST(XmlProbe, xml_nesting_depth_is_limited) {
  const auto nested = [](unsigned depth) {
    string text;
    for (unsigned i = 1; i < depth; ++i) text += "<a>";
    return text + "<Code>SlowDown</Code>";
  };
  EXPECT_TRUE(has(nested(64)));
  EXPECT_FALSE(has(nested(65)));
  EXPECT_FALSE(has(nested(1'000'000)));
  EXPECT_FALSE(has(string(1'000'000, '<')));
}

}  // namespace
}  // namespace reprise::http
