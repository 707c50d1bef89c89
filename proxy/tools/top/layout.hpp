// How items and texts become the lines of a page.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"

namespace reprise::tools {

/// Adds those lines below.
void append(std::vector<Line>&, std::vector<Line>);
/// Puts items on as many lines as they need, two blanks between two; only an item that is longer than a line
/// is broken.
std::vector<Line> flowed(std::vector<Line> items, const Display&);
/// Returns one line of the first items for which there is room: none of them is cut.
Line fitting(std::vector<Line> items, const Display&);
/// A heading and text beside it, broken into lines; on a narrow terminal below it.
void append_row(std::vector<Line>&, std::string_view heading, std::string_view text, const Display&,
                Style style = Style::plain);
/// The part of a page of text that is scrolled to.
std::vector<Line> scrolled_to(std::vector<Line>, std::size_t from, std::size_t rows);
/// Returns the first place of the part of a list that is shown: the page of `rows` lines that `place` is on.
std::size_t page_of(std::size_t place, std::size_t rows);

}  // namespace reprise::tools
