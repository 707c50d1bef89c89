// What stands between the head and the foot of each page, for draw() to put together.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/top/draw.hpp"

namespace reprise::tools {

/// The lines above every page: whose figures they are, and what is wrong with them.
std::vector<Line> head_lines(const Watch&, const View&, const Look&);
/// The reload that was last, in words; `bad`: it failed.
std::string reload_text(const Status&, bool& bad);

/// Each fills so many `rows` at most; what does not fit is scrolled or left out.
std::vector<Line> routes_page(const Watch&, const View&, const Look&, std::size_t rows);
std::vector<Line> stories_page(const Watch&, const View&, const Look&, std::size_t rows);
std::vector<Line> story_page(const Watch&, const View&, const Look&, std::size_t rows);
std::vector<Line> upstreams_page(const Watch&, const View&, const Look&, std::size_t rows);
std::vector<Line> help_page(const View&, const Look&, std::size_t rows);

/// One story: one line, or where its target has no room there, more lines below it. Then what it says of
/// itself.
std::vector<Line> story_rows(const StoryReading&, bool with_route, const Look&);
std::vector<Line> story_lines(const StoryReading&, const Look&);
/// Its reason in words, and what would change it.
std::string reason_text(const StoryReading&);

/// Adds those lines below.
void append(std::vector<Line>&, std::vector<Line>);
/// Puts items on as many lines as they need, two blanks between two; only an item that is longer than a line
/// is broken.
std::vector<Line> flowed(std::vector<Line> items, const Look&);
/// One line of those items, in order, for which there is room: none of them is cut.
Line fitting(std::vector<Line> items, const Look&);
/// A heading and text beside it, broken into lines; on a narrow terminal below it.
void append_row(std::vector<Line>&, std::string_view heading, std::string_view text, const Look&,
                Style style = Style::plain);
/// The part of a page of text that is scrolled to.
std::vector<Line> scrolled_to(std::vector<Line>, std::size_t from, std::size_t rows);
/// Where the part of a list begins that is shown: the page of so many rows that `place` is on.
std::size_t page_of(std::size_t place, std::size_t rows);

}  // namespace reprise::tools
