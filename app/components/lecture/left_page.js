// Streamlit keeps what the previous page has drawn until the whole next page is drawn. In a lecture, the class would
// see the old picture below the next title, so it is hidden from the moment that the title is drawn (lecture.css).

const LEFT = "leaves-a-page", PACE = 50;  // ms
const IS_DRAWN = '[data-test-script-state="notRunning"]';

let shown, timer;  // the path of the page that was shown; what removes the class LEFT

// `isOther`: whether the scene has changed.
export function hideWhatIsLeft(isOther) {
  const { pathname } = window.location, page = document.documentElement.classList;
  const isAnotherPage = isOther && shown !== undefined && shown !== pathname;
  shown = pathname;
  if (!isAnotherPage) return;
  page.add(LEFT);
  clearInterval(timer);
  timer = setInterval(() => {
    if (!document.querySelector(IS_DRAWN)) return;
    clearInterval(timer);
    page.remove(LEFT);
  }, PACE);
}
