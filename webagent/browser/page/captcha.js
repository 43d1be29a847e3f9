// Whether a test for being human is on show, told by what its makers' widgets are known by. A page
// that merely loads such a script, has passed the test or speaks of captchas shows none.

const CAPTCHA_FRAMES = [
  ["reCAPTCHA", /^https:\/\/(www\.)?(google\.com|recaptcha\.net)\/recaptcha\/.*\/(anchor\?(?!.*size=invisible)|bframe)/],
  ["hCaptcha", /^https:\/\/([\w-]+\.)*hcaptcha\.com\//],
  ["Turnstile", /^https:\/\/challenges\.cloudflare\.com\//],
  ["DataDome", /^https:\/\/([\w-]+\.)*captcha-delivery\.com\//],
  ["Arkose", /^https:\/\/([\w-]+\.)*(arkoselabs|funcaptcha)\.com\//],
  ["GeeTest", /^https:\/\/([\w-]+\.)*geetest\.com\//],
  ["PerimeterX", /^https:\/\/([\w-]+\.)*(px-cloud|px-cdn|perimeterx)\.net\//],
];
const CAPTCHA_ELEMENTS = [
  ["Cloudflare", "#challenge-form, #challenge-stage, #challenge-running, #cf-challenge-running, script[src*='/cdn-cgi/challenge-platform/'][src*='/orchestrate/']", true],
  ["PerimeterX", "#px-captcha, #px-captcha-wrapper", true],
  ["AWS WAF", "awswaf-captcha, #captcha-container amzn-captcha-verify-button", true],
  ["Turnstile", ".cf-turnstile", false],
  ["GeeTest", ".geetest_captcha, .geetest_holder", false],
];
const PASSED = "[name=g-recaptcha-response], [name=h-captcha-response], [name=cf-turnstile-response]";

function captchaOn() {
  const found = captchaFrame() || captchaElement() || captchaPicture();
  if (!found) return null;
  const [kind, element] = found;
  const always = CAPTCHA_ELEMENTS.some(([name, selector, whole]) => whole && name === kind && element[own.matches](selector));
  return { kind, blocks: always || kind === "DataDome" || isAllThereIs(element) };
}

function captchaFrame() {
  if ([...document.querySelectorAll(PASSED)].some((field) => field.value)) return null;
  for (const frame of document.querySelectorAll("iframe[src]")) {
    const known = CAPTCHA_FRAMES.find(([, address]) => address.test(frame.src));
    if (known && isOnShow(frame)) return [known[0], frame];
  }
  return null;
}

function captchaElement() {
  for (const [kind, selector] of CAPTCHA_ELEMENTS) {
    const element = document.querySelector(selector);
    if (!element) continue;
    if (kind === "Turnstile" && [...document.querySelectorAll(PASSED)].some((field) => field.value)) continue;
    if (tagOf(element) === "script" || isOnShow(element)) return [kind, element];
  }
  return null;
}

// A site's own: a picture to be read, beside a field to write what it says.
function captchaPicture() {
  for (const field of document.querySelectorAll("input[name*=captcha i], input[id*=captcha i]")) {
    const holder = field.form || field[own.parentElement];
    const picture = holder && holder[own.querySelector]("img[src*=captcha i], img[alt*=captcha i], img[id*=captcha i]");
    if (picture && isTextField(field) && !field.value && isOnShow(field) && isOnShow(picture)) return ["picture", picture];
  }
  return null;
}

function isOnShow(element) {
  if (!canBeSeen(element)) return false;
  const box = element[own.getBoundingClientRect]();
  if (box.width < 20 || box.height < 20 || box.right + scrollX <= 0 || box.bottom + scrollY <= 0) return false;
  for (let node = element; node; node = node[own.parentElement]) {
    if (getComputedStyle(node).opacity === "0") return false;
  }
  return true;
}

// Whether there is little on the page that one could read or use besides.
function isAllThereIs(element) {
  const fields = [...document.querySelectorAll("input, textarea, select")].filter((each) => canBeSeen(each));
  const form = element[own.closest]("form");
  const others = fields.filter((each) => !/captcha/i.test(each.name + each[own.id]) && !/^(submit|button|image)$/.test(each.type));
  if (others.length) return false;
  const links = [...document.links].filter((each) => canBeSeen(each) && !(form && form[own.contains](each)));
  return links.length <= 5 && clean(document.body[own.innerText]).length < 800;
}
