// Streamlit keeps what the previous page has drawn until the whole next page is drawn. In a lecture, the class would
// see the old picture below the next title, so it is hidden from the moment that the title is drawn (lecture.css).

import { isRunning } from "../shared/script_state.js";

const LEFT = "leaves-a-page", PACE = 50;  // ms

let shownPath, timer;  // the path of the page that was shown; the timer that removes the class LEFT

// `isOtherScene`: whether another scene (without a lesson: another page) is shown than before.
export function hideWhatIsLeft(isOtherScene) {
  const { pathname } = window.location, page = document.documentElement.classList;
  const isAnotherPage = isOtherScene && shownPath !== undefined && shownPath !== pathname;
  shownPath = pathname;
  if (!isAnotherPage) return;
  page.add(LEFT);
  clearInterval(timer);
  timer = setInterval(() => {
    if (isRunning()) return;
    clearInterval(timer);
    page.remove(LEFT);
  }, PACE);
}
