// Arranges items and texts as the lines of a page.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "proxy/tools/top/screen.hpp"
#include "proxy/tools/top/view.hpp"

namespace reprise::tools {

/// Appends the lines of the second list to the first list.
void append(std::vector<Line>&, std::vector<Line>);
/// Arranges the items on as many lines as needed, with two blanks between two items. Breaks an item only if
/// it is longer than a line.
std::vector<Line> flowed(std::vector<Line> items, const Display&);
/// Returns one line with the first items that fit. No item is cut.
Line fitting(std::vector<Line> items, const Display&);
/// Appends a heading with text beside it, wrapped into lines. On a narrow terminal, the text is below the
/// heading.
void append_row(std::vector<Line>&, std::string_view heading, std::string_view text, const Display&,
                Style style = Style::plain);
/// Returns at most `rows` lines of a page, beginning at line `from`.
std::vector<Line> scrolled_to(std::vector<Line>, std::size_t from, std::size_t rows);
/// Returns the index of the first item on the page that contains the item at index `place`. Each page of the
/// list has `rows` items.
std::size_t page_of(std::size_t place, std::size_t rows);

}  // namespace reprise::tools
