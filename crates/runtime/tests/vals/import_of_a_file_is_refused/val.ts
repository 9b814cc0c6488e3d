import passwd from "/etc/passwd" with { type: "text" };
export default passwd;
