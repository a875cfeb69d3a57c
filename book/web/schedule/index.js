/** Start the figure on a page that has an element with the id "sched". */

import { mount } from "./figure.js";

const element = document.getElementById("sched");
if (element) window.stSchedule = mount(element);
