// The style sheet of the HTML report, for light and dark pages.
#pragma once

#include <string_view>

namespace reprise::tools {

inline constexpr std::string_view page_style = R"(
:root{color-scheme:light dark;--page:#f4f6f8;--card:#fff;--ink:#1c2430;--soft:#5b6675;--rule:#e1e5ea;--bad:#b3123f;
--c0:#66707d;--c1:#c2570c;--c2:#6d4bd0;--c3:#c01d4b;--c4:#0b7a6b;--c5:#1b66c9;--c6:#8a6d00;--c7:#a02f9c}
@media (prefers-color-scheme:dark){:root{--page:#0f1318;--card:#171c23;--ink:#e8ecf1;--soft:#a3aebc;--rule:#2c343f;--bad:#ff7394;
--c0:#a9b3bf;--c1:#f19a4e;--c2:#ae96ff;--c3:#ff7394;--c4:#40cbb4;--c5:#72adff;--c6:#d9b83a;--c7:#e58be0}}
.p0{--c:var(--c0)}.p1{--c:var(--c1)}.p2{--c:var(--c2)}.p3{--c:var(--c3)}.p4{--c:var(--c4)}.p5{--c:var(--c5)}.p6{--c:var(--c6)}.p7{--c:var(--c7)}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main{max-width:1320px;margin:0 auto;padding:28px 20px 48px}
h1{font-size:26px;line-height:1.2;margin:0 0 4px}
h2{font-size:18px;margin:32px 0 10px}
p.lead{color:var(--soft);margin:0 0 18px;max-width:75ch}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:0;font-size:14px}
dt{color:var(--soft)}dd{margin:0}
.card,.box{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:16px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(228px,1fr));gap:14px}
.card{border-top:4px solid var(--c);padding-top:12px}
.card h3{font-size:15px;margin:0}
.card .is{color:var(--soft);font-size:12.5px;line-height:1.35;margin:2px 0 8px;min-height:4.1em}
.figure{font-size:28px;font-weight:650;line-height:1.1;color:var(--c);font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.unit{color:var(--soft);font-size:12.5px;margin:0 0 10px}
.what{font-size:12px;color:var(--soft);margin:10px 0 0}
svg{display:block;width:100%;height:auto}
.card svg{max-width:380px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);font-size:13px;padding-bottom:8px}
th,td{padding:7px 10px;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
th:first-child{text-align:left}
thead th{color:var(--soft);font-weight:500}
tbody tr:last-child>*{border-bottom:0}
tbody th{font-weight:600}
.dot{display:inline-block;width:10px;height:10px;border-radius:3px;background:var(--c);margin-right:8px}
.bad{color:var(--bad);font-weight:600}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:13px;margin:0 0 8px;padding:0;list-style:none}
ul.remarks{margin:0;padding-left:20px}
ul.remarks li{margin:4px 0;max-width:95ch}
details{margin-top:16px}
summary{cursor:pointer;color:var(--soft)}
footer{color:var(--soft);font-size:13px;margin-top:28px}
@media print{body{background:#fff}.card,.box{break-inside:avoid}}
)";

}  // namespace reprise::tools
