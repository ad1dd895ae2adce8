// The language of the page, as `<html lang>` says it.

export default function ({ data }) {
  document.documentElement.lang = data.language;
}
